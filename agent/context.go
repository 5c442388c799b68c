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
func (k *compaction) ContextUse(ctx context.Context) (ContextUse, error) {
	var use ContextUse
	err := k.c.do(ctx, func(context.Context) error {
		k.c.mu.Lock()
		scope, mode, role, m := k.c.scope, k.c.mode, k.c.role, k.c.model
		k.c.mu.Unlock()
		k.c.buildSystem(role, scope)
		offered := k.c.opt.Registry.Snapshot(scope).Offer(&k.c.order, k.c.opt.Gate, mode.Under(scope.Ceiling()))
		offered = slices.DeleteFunc(offered, func(e tools.Entry) bool { return !m.knows(e) })
		use = ContextUse{Window: m.Window, Known: k.measured.Known()}
		use.Parts = append(use.Parts, ContextPart{"system prompt", model.EstimateText(k.c.system)})
		use.Parts = append(use.Parts, toolParts(offered)...)
		use.Parts = append(use.Parts, ContextPart{"messages", k.c.history.Tokens()})
		use.Unsent = unsent(k.c.history.Messages(), m)
		use.Total = k.measured.Expect(k.c.system, definitions(offered), &k.c.history)
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
