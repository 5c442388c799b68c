package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"jcode/agent/model"
	"jcode/tools"
)

// ContextPart is something that takes room in the model's window.
type ContextPart struct {
	Name   string // "system prompt", "tools: builtin", "mcp: github", "messages"
	Tokens int
}

// ContextUse says what fills the window. All counts but Known are estimates.
type ContextUse struct {
	Parts  []ContextPart
	Total  int
	Window int // 0 = unknown
	// Known says that Total rests on what the provider counted.
	Known bool
}

// ContextUse measures the next request. It waits for a running turn to end.
func (c *Conversation) ContextUse(ctx context.Context) (ContextUse, error) {
	var use ContextUse
	err := c.do(ctx, func(context.Context) error {
		c.mu.Lock()
		scope, mode, role, m := c.scope, c.mode, c.role, c.model
		c.mu.Unlock()
		if !c.prompted && c.opt.System != nil {
			c.system, c.prompted = c.opt.System(c.row.ID, role, scope), true
		}
		offered := c.opt.Registry.Snapshot(scope).Offer(&c.order, c.opt.Gate, mode.Under(scope.Ceiling()))
		offered = slices.DeleteFunc(offered, func(e tools.Entry) bool { return !m.knows(e) })
		use = ContextUse{Window: m.Window, Known: c.measured.known > 0}
		use.Parts = append(use.Parts, ContextPart{"system prompt", model.EstimateText(c.system)})
		use.Parts = append(use.Parts, toolParts(offered)...)
		use.Parts = append(use.Parts, ContextPart{"messages", c.history.tokens})
		use.Total = c.measured.expect(c.system, definitions(offered), &c.history)
		return nil
	})
	return use, err
}

// toolParts sums the tool definitions by where they come from.
func toolParts(offered []tools.Entry) []ContextPart {
	sums := map[string]int{}
	for _, e := range offered {
		name := "tools: " + strings.SplitN(e.Owner, "/", 2)[0]
		if e.Spec.Server != "" {
			name = "mcp: " + e.Spec.Server
		}
		def := model.Tool{Name: e.Spec.Wire, Description: e.Spec.Description, Parameters: e.Spec.Parameters}
		sums[name] += model.EstimateTool(&def)
	}
	var parts []ContextPart
	for name, n := range sums {
		parts = append(parts, ContextPart{name, n})
	}
	slices.SortFunc(parts, func(a, b ContextPart) int { return cmp.Compare(a.Name, b.Name) })
	return parts
}
