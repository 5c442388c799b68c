package lua

import (
	"context"
	"fmt"
	"slices"

	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

// component returns the running script of a component, nil if there is none.
func (a *surroundings) component(fqn string) *script {
	for _, s := range a.held.scripts() {
		if s.fqn == fqn {
			return s
		}
	}
	return nil
}

// rpc sends a request to a component. A component that does not exist replies without success.
func (a *surroundings) rpc(ctx context.Context, c rpcCall) (*wire.Object, *pool.Failure) {
	sc := a.component(c.fqn)
	if sc == nil || c.dead {
		return wire.NewObject("success", false), nil
	}
	if inChain(ctx, c.fqn) {
		return nil, &pool.Failure{Kind: tools.KindBusy, Text: "component " + c.fqn + " is busy: it waits for this very call"}
	}
	limit := c.timeout
	if limit <= 0 { // none, or one beyond what a duration can hold
		limit = defaultRPC
	}
	msg, fail := sc.send(&mail{
		ctx:    ctx,
		job:    pool.Job{Msg: wire.Message{Type: wire.TypeRequest, Name: c.operation, Text: c.from, Value: c.payload}, Limit: limit},
		caller: c.caller, progress: c.progress, patience: limit,
	})
	if fail != nil {
		return nil, fail
	}
	answer, why := results(msg.Value)
	if reply, ok := answer.(*wire.Object); ok {
		return reply, nil
	}
	reply := wire.NewObject("success", false)
	if answer == nil && why != nil {
		reply.Set("error", resultText(why))
	}
	return reply, nil
}

// gateRequest lets the gate judge a direct request: as the strictest of the intents for that operation,
// otherwise under its own key.
func (a *surroundings) gateRequest(ctx context.Context, caller tools.Caller, fqn, operation string) tools.Decision {
	name := "component:" + fqn + ":" + operation
	strictest := &intent{name: name, fqn: fqn, operation: operation}
	found := false
	for _, s := range a.held.scripts() {
		s.mu.Lock()
		for _, i := range s.live.intents {
			if i.fqn == fqn && i.operation == operation && !i.dead {
				if !found || !i.readOnly && strictest.readOnly || i.always {
					strictest = i
				}
				found = true
			}
		}
		if s.fqn == fqn && !found {
			strictest.hash = s.src.hash
		}
		s.mu.Unlock()
	}
	if missing := caller.Scope.Missing(tools.CapLua); missing != 0 {
		return tools.Decision{Reason: "permission denied: " + missing.String() + " not granted", Kind: tools.KindPermission}
	}
	t := &intentTool{intent: strictest, around: a}
	plan, _ := t.Plan(ctx, tools.Call{}) // of an intent it never fails
	return a.opts.Dispatcher.Judge(ctx, caller, t.Spec(), plan)
}

// claimFQN refuses an intent for another script's component. An intent for a component that does not exist is
// marked dead, otherwise code that is loaded later under that name could serve it.
func (a *surroundings) claimFQN(s *script, i *intent) error {
	if i.fqn == s.fqn {
		return nil
	}
	if a.component(i.fqn) != nil {
		return fmt.Errorf("permission denied: component %s belongs to another script", i.fqn)
	}
	i.dead = true
	return nil
}

// commandOwner returns the present owner of a slash command, "" if it is free.
func (a *surroundings) commandOwner(name string, except *script) string {
	for _, s := range a.held.scripts() {
		if s == except || s.owner == except.owner {
			continue
		}
		s.mu.Lock()
		taken := slices.ContainsFunc(s.live.commands, func(c *luaCommand) bool { return c.name == name })
		s.mu.Unlock()
		if taken {
			return s.owner
		}
	}
	if a.opts.CommandTaken != nil && a.opts.CommandTaken(name) {
		return "jcode"
	}
	return ""
}
