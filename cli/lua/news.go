package luacli

import (
	"strings"

	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/internal/slicex"
	"jcode/tools"
)

// toolNews tells the person which Lua tools were added, removed or changed while nothing runs. During a turn
// the conversation itself reports what changed between two steps.
type toolNews struct {
	registry *tools.Registry
	board    *board.Board
	known    map[string]tools.Tool
}

func newToolNews(registry *tools.Registry, b *board.Board) *toolNews {
	return &toolNews{registry, b, luaTools(registry.Snapshot(nil))}
}

func luaTools(snap tools.Snapshot) map[string]tools.Tool {
	out := map[string]tools.Tool{}
	for _, e := range snap.All() {
		if e.Spec.Group == tools.GroupLua && e.Shadowed == "" {
			out[e.Spec.Name] = e.Tool
		}
	}
	return out
}

// look compares the registry with its previous state.
func (n *toolNews) look() {
	before, now := n.known, luaTools(n.registry.Snapshot(nil))
	n.known = now
	if conv := n.board.Open(); conv == nil || conv.State().Busy {
		return
	}
	if parts := slicex.Differences(before, now, "added %s", "changed %s", "removed %s"); parts != nil {
		n.board.Say(event.LevelInfo, "lua: %s", strings.Join(parts, ", "))
	}
}
