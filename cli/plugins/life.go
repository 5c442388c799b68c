package pluginscli

import (
	"context"
	"path/filepath"
	"strings"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/internal/watch"
)

// Life keeps the plugins in force up to date with the disk.
type Life struct {
	Bundles *Bundles
	Refresh func() // applies what has changed
	Say     func(level event.Level, format string, args ...any)
	OnClose func(func())
}

// Look puts changes of plugins into force: plugins that were added, updated, switched on or off, or removed,
// here or by another jcode, and those whose files have changed.
func (a Life) Look() {
	b := a.Bundles
	b.applying.Lock()
	defer b.applying.Unlock()
	now := b.current()
	parts := b.differ(now)
	if parts == nil {
		return
	}
	b.force = hashes(now)
	a.Refresh()
	a.Say(event.LevelInfo, "plugins: %s", strings.Join(parts, ", "))
}

// before checks the plugins before a step.
func (a Life) before(context.Context, string) agent.Announcement {
	a.Look()
	return agent.Announcement{}
}

// watch puts changes of plugins into force as they happen, until the app closes.
func (a Life) watch() {
	list := a.Bundles.store.ListFile()
	root := watch.Root{Path: filepath.Dir(list), Match: func(path string) bool { return path == list }}
	w := watch.New(context.Background(), []watch.Root{root}, watch.Options{Notice: func(text string) { a.Say(event.LevelWarn, "plugins: %s", text) }})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range w.Events() {
			a.Look()
		}
	}()
	a.OnClose(func() {
		w.Close()
		<-done
	})
}
