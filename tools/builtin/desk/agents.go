package desk

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

// Plan implements tools.Planner: a merge is judged as a change of all files that it touches.
func (agents) Plan(ctx context.Context, call tools.Call) (tools.Plan, error) {
	var order tools.AgentOrder
	desk, err := decodeAtDesk(call, &order)
	if err != nil {
		return tools.Plan{}, err
	}
	return desk.PlanAgents(ctx, order)
}

// Run implements tools.Tool.
func (agents) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	var order tools.AgentOrder
	desk, err := decodeAtDesk(call, &order)
	if err != nil {
		return tools.Result{}, err
	}
	return desk.OrderAgents(ctx, call, order)
}
