package cli

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

// roleWatch follows the files of roles, and re-enters the session's role when it has changed.
type roleWatch struct {
	board   *board.Board
	layers  func() *role.Layers
	again   <-chan struct{} // requests a reread of the roles
	agents  func() []role.PluginAgents
	onClose func(func())
}

func newRoleWatch(a *app) roleWatch {
	return roleWatch{&a.board, newRoleFiles(a).layers, a.rolesAgain, a.bundles.Agents, a.onClose}
}

// begin tells the person when role files or the agents of plugins change, until the app closes. The role that
// the session is in is re-entered when its file changes.
func (a roleWatch) begin() {
	layers := a.layers()
	var roots []watch.Root
	for _, dir := range []string{layers.ProjectDir, layers.ProjectAgents, layers.UserDir, layers.UserAgents} {
		if dir == "" {
			continue
		}
		roots = append(roots, watch.Root{Path: dir, Match: func(path string) bool { return filepath.Ext(path) == ".md" }})
	}
	w := watch.New(context.Background(), roots, watch.Options{Notice: func(text string) { a.board.Say(event.LevelWarn, "roles: %s", text) }})
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
			case <-a.again:
				layers.PluginAgents = a.agents()
			}
			now := roleTexts(ctx, layers)
			a.rolesChanged(ctx, known, now)
			known = now
		}
	}()
	a.onClose(func() {
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
func (a roleWatch) rolesChanged(ctx context.Context, before, now map[string]string) {
	parts := slicex.Differences(before, now, "added %s", "changed %s", "removed %s")
	if conv := a.board.Open(); conv != nil {
		current := conv.Role().Name
		if i := slices.Index(parts, "changed "+current); i >= 0 {
			if entered, err := a.reenter(ctx, current); err != nil {
				a.board.Say(event.LevelWarn, "%v; the session stays in %s as it was", err, current)
			} else if entered {
				parts[i] += ", which is entered again"
			}
		}
	}
	if parts != nil {
		a.board.Say(event.LevelInfo, "roles: %s", strings.Join(parts, ", "))
	}
}

// reenter re-enters the session's role if it has changed, and reports whether it did.
func (a roleWatch) reenter(ctx context.Context, name string) (bool, error) {
	conv := a.board.Open()
	if conv == nil || conv.Role().Name != name {
		return false, nil
	}
	kept, err := role.FromSnapshot(conv.Role().Snapshot)
	if err != nil {
		return false, err
	}
	now, err := a.layers().Get(ctx, name)
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
