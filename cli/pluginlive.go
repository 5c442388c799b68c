package cli

import (
	"context"
	"path/filepath"
	"strings"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/cli/core"
	"jcode/internal/watch"
)

// pluginLife keeps the plugins in force up to date with the disk.
type pluginLife struct {
	bundles *bundles
	list    *core.Extensions // which applies what has changed
	board   *board.Board
	onClose func(func())
}

func newPluginLife(a *app) pluginLife { return pluginLife{&a.bundles, &a.list, &a.board, a.onClose} }

// look puts changes of plugins into force: plugins that were added, updated, switched on or off, or removed,
// here or by another jcode, and those whose files have changed.
func (a pluginLife) look() {
	b := a.bundles
	b.applying.Lock()
	defer b.applying.Unlock()
	now := b.current()
	parts := b.differ(now)
	if parts == nil {
		return
	}
	b.force = hashes(now)
	a.list.Refresh()
	a.board.Say(event.LevelInfo, "plugins: %s", strings.Join(parts, ", "))
}

// before checks the plugins before a step.
func (a pluginLife) before(context.Context, string) agent.Announcement {
	a.look()
	return agent.Announcement{}
}

// watch puts changes of plugins into force as they happen, until the app closes.
func (a pluginLife) watch() {
	list := a.bundles.store.ListFile()
	root := watch.Root{Path: filepath.Dir(list), Match: func(path string) bool { return path == list }}
	w := watch.New(context.Background(), []watch.Root{root}, watch.Options{Notice: func(text string) { a.board.Say(event.LevelWarn, "plugins: %s", text) }})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range w.Events() {
			a.look()
		}
	}()
	a.onClose(func() {
		w.Close()
		<-done
	})
}
