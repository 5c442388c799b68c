package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"jcode/tools"
)

//go:embed agent.md
var agentText string

// agents is the tool that manages sub-agents in the background.
type agents struct{}

// Spec implements tools.Tool.
func (agents) Spec() tools.Spec {
	return tools.Spec{
		Name: "agent", Description: strings.TrimSpace(agentText), Group: tools.GroupBuiltin, Trusted: true,
		Parameters: json.RawMessage(`{"type":"object","properties":{"action":{"type":"string","enum":["list","output","message","wait","stop","merge","discard","claim"]},"name":{"type":"string","description":"The agent; for wait none means all"},"text":{"type":"string","description":"For message"},"any":{"type":"boolean","description":"For wait: until the first ends"},"paths":{"type":"array","items":{"type":"string"},"description":"For claim"}},"required":["action"]}`),
	}
}

func (agents) order(call tools.Call) (tools.AgentOrder, error) {
	var order tools.AgentOrder
	if call.Caller.Desk == nil {
		return order, errNoDesk("agent")
	}
	return order, call.Decode(&order)
}

// Plan implements tools.Planner: a merge is judged as a change of all files that it touches.
func (a agents) Plan(ctx context.Context, call tools.Call) (tools.Plan, error) {
	order, err := a.order(call)
	if err != nil {
		return tools.Plan{}, err
	}
	return call.Caller.Desk.PlanAgents(ctx, order)
}

// Run implements tools.Tool.
func (a agents) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	order, err := a.order(call)
	if err != nil {
		return tools.Result{}, err
	}
	return call.Caller.Desk.OrderAgents(ctx, call, order)
}
