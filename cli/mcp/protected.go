package mcpcli

import (
	"context"
	"slices"
	"strings"
	"sync"

	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/builtin"
	"jcode/tools/sandbox"
)

// ProtectedWatch reports what unasked calls of MCP servers did to protected files: servers are not
// confined, and what they write is not part of a plan.
type ProtectedWatch struct {
	Board *board.Board
	// Watch records the protected files, nil if nothing does; remember saves them in their present state, for
	// /undo.
	Watch    func() func() sandbox.Watched
	Remember func(caller tools.Caller, open []string) (note func(changed []string))

	mu      sync.Mutex
	watched map[string]func() []string // by call
}

// BeforeCall implements tools.Hook and changes nothing.
func (s *ProtectedWatch) BeforeCall(_ context.Context, call tools.Call) tools.Verdict {
	if !strings.HasPrefix(call.Name, "mcp:") || call.Caller.CurrentMode() != tools.ModeYolo {
		return tools.Verdict{}
	}
	watch := s.Watch()
	if watch == nil {
		return tools.Verdict{}
	}
	changed := builtin.KeepWatched(watch(), call.Caller, s.Remember)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watched == nil {
		s.watched = map[string]func() []string{}
	}
	s.watched[call.ID] = changed
	return tools.Verdict{}
}

// AfterCall implements tools.Hook.
func (s *ProtectedWatch) AfterCall(call tools.Call, _ tools.Outcome) {
	s.mu.Lock()
	changed := s.watched[call.ID]
	delete(s.watched, call.ID)
	s.mu.Unlock()
	if changed == nil {
		return
	}
	paths := changed()
	if len(paths) == 0 {
		return
	}
	for i, p := range paths {
		paths[i] = text.Visible(p)
	}
	slices.Sort(paths)
	line := "while " + text.Visible(call.Name) + " ran, protected files were made or changed, which steer git or the agent: " + strings.Join(paths, ", ") + "; look at them, /undo takes them back"
	s.Board.Say(event.LevelWarn, "%s", line)
	s.Board.Tell("Note: " + line + ".")
}
