package skills

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"jcode/internal/watch"
)

// Watch keeps the registry and the command files up to date until stop is called; stop waits for
// the watching to end. changed is called for changes of command files; the registry calls its own
// Options.Changed. Either of c and changed may be nil.
func Watch(r *Registry, c *CommandFiles, changed func(Change)) (stop func()) {
	var roots []watch.Root
	for _, src := range r.opts.Places.sources() {
		if src.Dir == "" || src.Plugin != "" { // the owner of the plugins watches them
			continue
		}
		roots = append(roots, watch.Root{
			Path: src.Dir, Depth: maxDepth, Links: true,
			Enter: func(folder string) bool { return !skipFolder(filepath.Base(folder)) },
			Leaf:  func(folder string) bool { return (folder != src.Dir || src.lone) && holdsSkill(folder) },
			Match: func(path string) bool { return strings.EqualFold(filepath.Base(path), skillFile) },
		})
	}
	if c != nil {
		for _, src := range c.places.commandSources() {
			if src.Plugin != "" {
				continue
			}
			roots = append(roots, watch.Root{
				Path: src.Dir, Depth: maxCommandDepth,
				Enter: func(folder string) bool { return !skipFolder(filepath.Base(folder)) },
				Match: func(path string) bool { return strings.EqualFold(filepath.Ext(path), ".md") },
			})
		}
	}
	w := watch.New(context.Background(), roots, watch.Options{Notice: r.opts.Notice})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ev := range w.Events() {
			if ev.Overflow {
				r.Reload()
			} else {
				r.refreshFiles(ev.Paths)
			}
			if c == nil {
				continue
			}
			if change := c.Reload(); changed != nil && !change.Empty() {
				changed(change)
			}
		}
	}()
	return func() {
		w.Close()
		<-done
	}
}

func holdsSkill(folder string) bool {
	_, err := os.Lstat(filepath.Join(folder, skillFile))
	return err == nil
}
