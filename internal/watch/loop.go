package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// gather is how long structural changes are collected before the folders are walked again: an unpacked
// archive costs a few walks, not one per folder.
const gather = 20 * time.Millisecond

// run is the watcher's only goroutine: it owns all state below Watcher.roots.
func (w *Watcher) run(ctx context.Context) {
	defer close(w.done)
	defer close(w.events)
	var changes chan fsnotify.Event
	var faults chan error
	if w.notify != nil {
		defer func() { _ = w.notify.Close() }() // nothing is kept
		changes, faults = w.notify.Events, w.notify.Errors
	}
	settled := settle{quiet: w.opts.Debounce, limit: w.opts.MaxDelay, timer: stopped()}
	poll, walk := stopped(), stopped()
	defer poll.Stop()
	defer walk.Stop()
	defer settled.timer.Stop()
	polling, walking := false, false

	for {
		if any := w.anyPolled(); any != polling {
			polling = any
			if any {
				poll.Reset(w.opts.Poll)
			} else {
				poll.Stop()
			}
		}
		if w.stale && !walking {
			walking = true
			walk.Reset(gather)
		}
		var out chan Event
		var next Event
		if settled.ripe {
			out, next = w.events, w.event()
		}
		select {
		case <-ctx.Done():
			return
		case out <- next:
			clear(w.pending)
			w.overflow = false
			settled.ripe, settled.running = false, false
		case ev, ok := <-changes:
			if !ok {
				changes = nil
				continue
			}
			w.changed(ev)
		case err, ok := <-faults:
			if !ok {
				faults = nil
				continue
			}
			w.fault(err)
		case <-poll.C:
			polling = false
			w.pollAll()
		case <-walk.C:
			walking, w.stale = false, false
			w.resync(ctx, true)
		case <-settled.timer.C:
			settled.ripe = true
		}
		if w.touched {
			w.touched = false
			settled.touch()
		}
	}
}

func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// settle decides when changes have been quiet for long enough.
type settle struct {
	quiet, limit time.Duration
	timer        *time.Timer
	first        time.Time
	running      bool
	ripe         bool
}

func (s *settle) touch() {
	now := time.Now()
	if !s.running {
		s.first, s.running = now, true
	}
	s.ripe = false
	wait := min(s.quiet, max(0, s.limit-now.Sub(s.first)))
	s.timer.Reset(wait)
}

// event returns a report of what is pending, which stays until someone receives it.
func (w *Watcher) event() Event {
	return Event{Overflow: w.overflow, Paths: slices.Sorted(maps.Keys(w.pending))}
}

func (w *Watcher) report(path string) {
	w.touched = true
	if len(w.pending) >= maxPaths && !w.pending[path] {
		w.overflow = true
		return
	}
	w.pending[path] = true
}

func (w *Watcher) fault(err error) {
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		w.overflow, w.touched, w.stale = true, true, true
		return
	}
	w.notice("fault", fmt.Sprintf("watching files: %v", err))
}

// changed records one raw change.
func (w *Watcher) changed(ev fsnotify.Event) {
	if ev.Op == fsnotify.Chmod {
		return
	}
	gone := ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename)
	if f := w.folders[ev.Name]; f != nil && gone {
		w.folderGone(f)
		return
	}
	parent := w.folders[filepath.Dir(ev.Name)]
	if parent == nil {
		return
	}
	if ev.Has(fsnotify.Create) {
		w.grew(parent)
	}
	base := filepath.Base(ev.Name)
	for _, name := range parent.names {
		w.entryChanged(filepath.Join(name, base), ev.Has(fsnotify.Create) || gone)
	}
}

// folderGone handles a watched folder that was removed or renamed.
func (w *Watcher) folderGone(f *folder) {
	for _, name := range f.names {
		w.reportInRoots(name)
	}
	w.drop(f)
	w.stale = true
}

// entryChanged handles a change of path, an entry of a watched folder, named as in the roots.
func (w *Watcher) entryChanged(path string, structural bool) {
	if IsEditorTemp(filepath.Base(path)) {
		return
	}
	for i := range w.roots {
		r := &w.roots[i]
		depth := within(r.Path, path)
		switch {
		case depth > 0 && depth <= r.Depth+1:
			if r.matches(path) {
				w.report(path)
			}
			if structural && depth <= r.Depth && !w.leaves[leaf{i, filepath.Dir(path)}] && (isDir(path) || w.known(path)) {
				w.stale = true
			}
		case structural && within(path, r.Path) >= 0: // the root itself, or a folder on the way to it
			w.stale = true
		}
	}
}

func (r *Root) matches(path string) bool { return r.Match == nil || r.Match(path) }

// known reports whether path is the name of a watched folder.
func (w *Watcher) known(path string) bool {
	for _, f := range w.folders {
		if slices.Contains(f.names, path) {
			return true
		}
	}
	return false
}

// within returns how many levels path is below root: 0 for root itself, -1 if outside.
func within(root, path string) int {
	if path == root {
		return 0
	}
	prefix := root
	if !os.IsPathSeparator(prefix[len(prefix)-1]) {
		prefix += string(filepath.Separator)
	}
	rest, ok := strings.CutPrefix(path, prefix)
	if !ok {
		return -1
	}
	return 1 + strings.Count(rest, string(filepath.Separator))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
