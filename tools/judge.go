package tools

import (
	"context"
	"crypto/rand"
)

// Judge has the gate judge something that is not the call of a registered tool: a plugin to be
// loaded, a server that a script adds. It reports to the caller's Observe, and a refusal always
// has a reason. Without a gate everything is refused.
func (d *Dispatcher) Judge(ctx context.Context, caller Caller, spec Spec, plan Plan) Decision {
	return d.JudgeCall(ctx, Call{ID: rand.Text(), Name: spec.Name, Arguments: []byte("{}"), Caller: caller}, spec, plan)
}

// JudgeCall is Judge for something that belongs to a call that is running: a redirect of a
// fetch. A question is shown as that call's.
func (d *Dispatcher) JudgeCall(ctx context.Context, call Call, spec Spec, plan Plan) Decision {
	if d.Gate == nil {
		return Decision{By: ByPolicy, Reason: "denied: no approval gate"}
	}
	if call.Progress == nil {
		call.Progress = func(Progress) {}
	}
	dec := d.judged(ctx, GateRequest{Spec: spec, Call: call, Plan: plan})
	call.Caller.observe(call, dec)
	if !dec.Allow && dec.Reason == "" {
		dec.Reason = "denied: " + plan.Summary
	}
	return dec
}

// observe reports a decision to the caller, unless nothing was asked and nothing could have been.
func (c Caller) observe(call Call, dec Decision) {
	if c.Observe != nil && !dec.Silent {
		c.Observe(call, dec)
	}
}
