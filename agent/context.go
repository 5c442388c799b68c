package agent

import (
	"context"
	"maps"
	"slices"
	"strings"

	"jcode/agent/model"
	"jcode/tools"
)

// ContextPart is something that takes up space in the model's window.
type ContextPart struct {
	Name   string // "system prompt", "tools: builtin", "mcp: github", "messages"
	Tokens int
}

// ContextUse says what fills the window. All counts but Known are estimates.
type ContextUse struct {
	Parts  []ContextPart
	Total  int
	Window int // 0 = unknown
	// Unsent counts the answers with thinking, or another part for one model only, that is kept but not sent:
	// the current model is a different one, or the provider leaves the part out.
	Unsent int
	// Known says that Total is based on the provider's count.
	Known bool
}

// ContextUse measures the next request. It waits for a running turn to end.
func (c *Conversation) ContextUse(ctx context.Context) (ContextUse, error) {
	var use ContextUse
	err := c.do(ctx, func(context.Context) error {
		c.mu.Lock()
		scope, role, m := c.settings.scope, c.settings.role, c.settings.model
		c.mu.Unlock()
		c.out.build(c.opt.System, c.record.row.ID, role, scope)
		_, offered, _ := offerable(c)
		use = ContextUse{Window: m.Window, Known: c.out.measured.Known()}
		use.Parts = append(use.Parts, ContextPart{"system prompt", model.EstimateText(c.out.system)})
		use.Parts = append(use.Parts, toolParts(offered)...)
		use.Parts = append(use.Parts, ContextPart{"messages", c.out.history.Tokens()})
		use.Unsent = unsent(c.out.history.Messages(), m)
		use.Total = c.out.measured.Expect(c.out.system, definitions(offered), &c.out.history)
		return nil
	})
	return use, err
}

// unsent counts the answers of which an opaque part is not sent to a model.
func unsent(list []model.Message, m Model) (n int) {
	for i := range list {
		if m.Keeps != nil && slices.ContainsFunc(list[i].Opaque, func(o model.Opaque) bool { return !m.Keeps(o) }) {
			n++
		}
	}
	return n
}

// toolParts sums the tool definitions by their source.
func toolParts(offered []tools.Entry) []ContextPart {
	sums := map[string]int{}
	for _, e := range offered {
		name := "tools: " + strings.SplitN(e.Owner, "/", 2)[0]
		if e.Spec.Server != "" {
			name = "mcp: " + e.Spec.Server
		}
		def := definition(e)
		sums[name] += model.EstimateTool(&def)
	}
	var parts []ContextPart
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		parts = append(parts, ContextPart{name, sums[name]})
	}
	return parts
}
