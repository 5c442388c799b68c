package lua

import (
	"context"
	"fmt"
	"slices"
	"time"

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

// address is an operation of a component.
type address struct{ fqn, operation string }

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

// request implements jcode.request. It asks the gate first, unless a dispatch has already had the same
// request judged.
func (s *principal) request(ctx context.Context, a arguments) ([]any, error) {
	fqn, operation := a.text(0), a.text(1)
	no := func(format string, args ...any) ([]any, error) {
		return one(wire.NewObject("success", false, "error", fmt.Sprintf(format, args...))), nil
	}
	cleared := s.clearance != nil && *s.clearance == address{fqn, operation}
	s.clearance = nil
	if !cleared {
		if d := s.around.gateRequest(ctx, s.nested(), fqn, operation); !d.Allow {
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
	reply, fail := s.around.rpc(ctx, rpcCall{fqn: fqn, operation: operation, payload: a.at(2), from: s.owner, timeout: timeout, caller: s.nested(), progress: s.progress})
	if fail != nil {
		return no("%s", fail.Text)
	}
	if !reply.Bool("success") && reply.Get("error") == nil {
		reply.Set("error", "component RPC failed: "+fqn+"::"+operation)
	}
	return one(reply), nil
}
