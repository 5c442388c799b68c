package agent

import (
	"cmp"
	"slices"
	"strings"

	"jcode/agent/event"
	"jcode/agent/history"
	"jcode/agent/model"
	"jcode/internal/toolcard"
	"jcode/tools"
)

// listing is the list of tools that a conversation's requests carry. Providers cache the beginning of a
// request, and some bind a model's thinking to it, so within a turn nothing in the list moves: a new tool is
// appended, and a removed one stays listed until the turn ends (a call to it is answered with what became of
// it).
type listing struct {
	list []tools.Entry
	turn int
	left int               // tools that were over the limit at the last step
	wire map[string]string // wire names of every tool ever listed, by canonical name

	called map[string]bool // tools that were called in the conversation
	read   int             // messages that were looked through for them
}

// onDemand leaves out the tools that are of use only after another one: until that was called, or there is a server.
// What was offered once stays, as long as the conversation's messages are the same.
func (l *listing) onDemand(offered []tools.Entry, messages []model.Message) []tools.Entry {
	if l.called == nil || len(messages) < l.read {
		l.called, l.read = map[string]bool{}, 0
	}
	for ; l.read < len(messages); l.read++ {
		if said := messages[l.read].Text; messages[l.read].Role == model.RoleTool {
			for name, words := range toolcard.Said() {
				if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(said, w) }) {
					l.called[name] = true
				}
			}
		}
		for _, c := range messages[l.read].Calls {
			l.called[c.Name] = true
		}
	}
	served := slices.ContainsFunc(offered, func(e tools.Entry) bool { return e.Spec.Group == tools.GroupMCP || e.Spec.Server != "" })
	return slices.DeleteFunc(offered, func(e tools.Entry) bool {
		card := toolcard.Of(e.Spec.Name)
		if len(card.After) == 0 || e.Owner != tools.OwnerBuiltin && !card.Serves && card.Name != "reload_skills" {
			return false
		}
		return !l.called[e.Spec.Wire] && !l.called[e.Spec.Name] && !(card.Serves && served) && !slices.ContainsFunc(card.After, func(name string) bool { return l.called[name] })
	})
}

// fresh orders the tools of the first request after a resume: those that the history says came later stand at the end,
// in the order in which they came, as they did in the requests before. So the provider still has those in its cache.
func (l *listing) fresh(offered []tools.Entry, messages []model.Message) {
	if l.list != nil {
		return
	}
	came := map[string]int{}
	for i := range messages {
		for k := range messages[i].ToolsAdded {
			came[messages[i].ToolsAdded[k].Name] = i<<10 + k + 1
		}
	}
	if len(came) > 0 {
		slices.SortStableFunc(offered, func(a, b tools.Entry) int { return cmp.Compare(came[a.Spec.Wire], came[b.Spec.Wire]) })
	}
}

// arrange puts the offered tools in the order of the earlier requests. A tool that may no longer be sent is
// dropped. The caller must not change the result.
func (l *listing) arrange(offered []tools.Entry, turn int, banned func(tools.Entry) bool) []tools.Entry {
	if l.wire == nil {
		l.wire = map[string]string{}
	}
	now := make(map[string]int, len(offered)) // places in offered
	for i := range offered {
		now[offered[i].Spec.Name] = i
		l.wire[offered[i].Spec.Name] = offered[i].Spec.Wire
	}
	out := make([]tools.Entry, 0, len(offered))
	placed := make(map[string]bool, len(offered))
	for _, e := range l.list {
		if i, ok := now[e.Spec.Name]; ok {
			e = offered[i]
		} else if l.turn != turn || banned(e) {
			continue
		}
		out = append(out, e)
		placed[e.Spec.Name] = true
	}
	for _, e := range offered {
		if !placed[e.Spec.Name] {
			out = append(out, e)
		}
	}
	l.list, l.turn = out, turn
	return out
}

// within leaves out the Lua tools, the last ones first, with which a request would have more tools than it may, and says how
// many those are. MCP tools obey the same limit by being found with a search instead.
func within(offered []tools.Entry, limit int) (kept []tools.Entry, left int) {
	over := len(offered) - limit
	if limit > 0 && over > 0 {
		offered = slices.Clone(offered)
		for i := len(offered) - 1; i >= 0 && left < over; i-- {
			if offered[i].Spec.Group == tools.GroupLua {
				offered = slices.Delete(offered, i, i+1)
				left++
			}
		}
	}
	return offered, left
}

// told reports whether as many tools were left out at the last step.
func (l *listing) told(left int) bool {
	before := l.left
	l.left = left
	return left == before
}

// forget lets the next request begin a new list: its beginning changes anyway.
func (l *listing) forget() { l.list = nil }

// change returns the tools that were added and removed, as a request names them.
func (l *listing) change(ev event.ToolsChanged) (c history.ToolChange) {
	for _, e := range l.list {
		if slices.Contains(ev.Added, e.Spec.Name) {
			c.Added = append(c.Added, definition(e))
		}
	}
	for _, name := range ev.Removed {
		if wire := l.wire[name]; wire != "" {
			c.Removed = append(c.Removed, wire)
		}
	}
	return c
}
