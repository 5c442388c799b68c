package lua

import (
	"context"
	_ "embed"
	"time"

	"jcode/lua/manifest"
	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

//go:embed eval.md
var evalDescription string

// Limits of lua_eval.
const (
	evalSteps = 10_000_000
	evalLimit = 10 * time.Second
)

// evalTool is the optional, read-only lua_eval tool of the model.
type evalTool struct{ around *surroundings }

// Spec describes the tool.
func (*evalTool) Spec() tools.Spec {
	return tools.Spec{
		Name: "lua_eval", Description: evalDescription, ReadOnly: true, Trusted: true, Needs: tools.CapLua, Group: tools.GroupBuiltin,
		Parameters: []byte(`{"type":"object","properties":{"code":{"type":"string","description":"Lua source; its return value is the result"}},"required":["code"]}`),
	}
}

// Run runs the code in a fresh state that can only read.
func (t *evalTool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	var args struct {
		Code string `json:"code"`
	}
	if err := call.Decode(&args); err != nil {
		return tools.Result{}, err
	}
	if err := t.around.pool.Enter(ctx, call.Caller.Depth > 0); err != nil {
		return tools.Result{}, tools.Errorf(tools.KindCancelled, "cancelled while waiting for other Lua tools")
	}
	defer t.around.pool.Leave()
	msg, fail := t.around.runPooled(ctx, &principal{
		around: t.around, env: wire.EnvEval, owner: tools.OwnerBuiltin, name: "lua_eval", perms: &manifest.Permissions{}, readOnly: true,
		declare: "a tool folder", caller: call.Caller, progress: call.Progress,
	}, pool.Job{Msg: wire.Message{
		Type: wire.TypeRun, Name: "code", Text: args.Code, Limits: wire.Limits{Instructions: evalSteps, Heap: pool.HeapGrowth},
	}, Limit: evalLimit})
	if fail != nil {
		return tools.Result{}, &tools.Error{Kind: fail.Kind, Text: fail.Text}
	}
	o, _ := msg.Value.(*wire.Object)
	out := wire.NewObject("ok", true, "output", o.String("output"))
	if first, _ := results(o.Get("result")); first != nil {
		out.Set("result", first)
	}
	shown := out.Clone()
	shown.Delete("ok")
	return tools.Result{Text: compactText(shown), Data: out}, nil
}
