package lua

import (
	"context"
	"fmt"
	"slices"
	"time"

	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

// chainKey is the context key of the components that are busy with the current call.
type chainKey struct{}

// withChain marks a component as busy for all nested calls.
func withChain(ctx context.Context, fqn string) context.Context {
	chain, _ := ctx.Value(chainKey{}).([]string)
	return context.WithValue(ctx, chainKey{}, append(slices.Clone(chain), fqn))
}

func inChain(ctx context.Context, fqn string) bool {
	chain, _ := ctx.Value(chainKey{}).([]string)
	return slices.Contains(chain, fqn)
}

// rpcCall is one request to a component.
type rpcCall struct {
	fqn, operation string
	dead           bool
	payload        any
	from           string
	timeout        time.Duration // 0 = default
	caller         tools.Caller
	progress       func(tools.Progress)
}

// rpc sends a request to a component. A component that does not exist replies without success.
func (r *Room) rpc(ctx context.Context, c rpcCall) (*wire.Object, *pool.Failure) {
	sc := r.component(c.fqn)
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

// request implements jcode.request. It asks the gate first, unless a dispatch has already had the same
// request judged.
func (s *principal) request(ctx context.Context, a arguments) ([]any, error) {
	fqn, operation := a.text(0), a.text(1)
	no := func(format string, args ...any) ([]any, error) {
		return one(wire.NewObject("success", false, "error", fmt.Sprintf(format, args...))), nil
	}
	cleared := s.clearance == fqn+"\x00"+operation
	s.clearance = ""
	if !cleared {
		if d := s.room.gateRequest(ctx, s.nested(), fqn, operation); !d.Allow {
			return no("%s", d.Reason)
		}
	}
	if s.script != nil && s.script.fqn == fqn {
		return []any{nil, wire.NewObject("own", true, "fqn", fqn, "operation", operation, "from", s.owner, "payload", a.at(2))}, nil
	}
	var timeout time.Duration
	if ms, ok := a.object(3).Number("timeout_ms"); ok {
		if ms < 1 {
			return no("timeout_ms must be positive")
		}
		timeout = time.Duration(ms) * time.Millisecond
	}
	reply, fail := s.room.rpc(ctx, rpcCall{fqn: fqn, operation: operation, payload: a.at(2), from: s.owner, timeout: timeout, caller: s.nested(), progress: s.progress})
	if fail != nil {
		return no("%s", fail.Text)
	}
	if !reply.Bool("success") && reply.Get("error") == nil {
		reply.Set("error", "component RPC failed: "+fqn+"::"+operation)
	}
	return one(reply), nil
}

// gateRequest lets the gate judge a direct request: as the strictest of the intents for that operation,
// otherwise under its own key.
func (r *Room) gateRequest(ctx context.Context, caller tools.Caller, fqn, operation string) tools.Decision {
	name := "component:" + fqn + ":" + operation
	strictest := &intent{name: name, fqn: fqn, operation: operation}
	found := false
	for _, s := range r.scripts() {
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
	t := &intentTool{intent: strictest, room: r}
	plan, _ := t.Plan(ctx, tools.Call{}) // of an intent it never fails
	return r.opts.Dispatcher.Judge(ctx, caller, t.Spec(), plan)
}
