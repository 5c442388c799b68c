package rolescli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/internal/slicex"
	"jcode/internal/watch"
	"jcode/session/role"
)

// Watch follows the files of roles, and re-enters the session's role when it has changed.
type Watch struct {
	Board   *board.Board
	Layers  func() *role.Layers
	Again   <-chan struct{} // requests a reread of the roles
	Agents  func() []role.PluginAgents
	OnClose func(func())
}

// begin tells the person when role files or the agents of plugins change, until the app closes. The role that
// the session is in is re-entered when its file changes.
func (a Watch) begin() {
	layers := a.Layers()
	var roots []watch.Root
	for _, dir := range []string{layers.ProjectDir, layers.ProjectAgents, layers.UserDir, layers.UserAgents} {
		if dir == "" {
			continue
		}
		roots = append(roots, watch.Root{Path: dir, Match: func(path string) bool { return filepath.Ext(path) == ".md" }})
	}
	w := watch.New(context.Background(), roots, watch.Options{Notice: func(text string) { a.Board.Say(event.LevelWarn, "roles: %s", text) }})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	layers.Rows = nil // only the program changes rows
	known := roleTexts(ctx, layers)
	go func() {
		defer close(done)
		for {
			select {
			case _, ok := <-w.Events():
				if !ok {
					return
				}
			case <-a.Again:
				layers.PluginAgents = a.Agents()
			}
			now := roleTexts(ctx, layers)
			a.rolesChanged(ctx, known, now)
			known = now
		}
	}()
	a.OnClose(func() {
		cancel()
		w.Close()
		<-done
	})
}

// roleTexts returns the text of each role in force, by name.
func roleTexts(ctx context.Context, layers *role.Layers) map[string]string {
	all, _ := layers.List(ctx) // the lists that show them report what can't be read
	out := make(map[string]string, len(all))
	for _, l := range all {
		if l.Counts() {
			out[l.Role.Name] = l.Text
		}
	}
	return out
}

// rolesChanged compares two states of the roles and reports what differs.
func (a Watch) rolesChanged(ctx context.Context, before, now map[string]string) {
	parts := slicex.Differences(before, now, "added %s", "changed %s", "removed %s")
	if conv := a.Board.Open(); conv != nil {
		current := conv.Role().Name
		if i := slices.Index(parts, "changed "+current); i >= 0 {
			if entered, err := a.Reenter(ctx, current); err != nil {
				a.Board.Say(event.LevelWarn, "%v; the session stays in %s as it was", err, current)
			} else if entered {
				parts[i] += ", which is entered again"
			}
		}
	}
	if parts != nil {
		a.Board.Say(event.LevelInfo, "roles: %s", strings.Join(parts, ", "))
	}
}

// Reenter re-enters the session's role if it has changed, and reports whether it did.
func (a Watch) Reenter(ctx context.Context, name string) (bool, error) {
	conv := a.Board.Open()
	if conv == nil || conv.Role().Name != name {
		return false, nil
	}
	kept, err := role.FromSnapshot(conv.Role().Snapshot)
	if err != nil {
		return false, err
	}
	now, err := a.Layers().Get(ctx, name)
	if err != nil {
		return false, err
	}
	if now.SameAs(kept) {
		return false, nil
	}
	if err := conv.SetRole(ctx, name); err != nil {
		return false, fmt.Errorf("enter the changed role: %w", err)
	}
	return true, nil
}
