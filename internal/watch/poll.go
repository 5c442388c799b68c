package watch

import (
	"os"
	"path/filepath"
	"time"
)

// maxPolled bounds the entries that one poll reads in a folder.
const maxPolled = 5000

// stamp distinguishes a changed entry from an unchanged one.
type stamp struct {
	mod  time.Time
	size int64
	dir  bool
}

func (w *Watcher) anyPolled() bool {
	for _, f := range w.folders {
		if f.polled {
			return true
		}
	}
	return false
}

// pollAll compares the polled folders with their last state.
func (w *Watcher) pollAll() {
	var polled []*folder
	for _, f := range w.folders {
		if f.polled {
			polled = append(polled, f)
		}
	}
	for _, f := range polled {
		if w.folders[f.path] != f {
			continue // removed while an earlier one was handled
		}
		if !isDir(f.path) {
			w.folderGone(f)
			continue
		}
		now := w.look(f)
		before := f.seen
		f.seen = now
		for name, s := range now {
			if old, ok := before[name]; !ok || old != s {
				w.polledChange(f, name, !ok || old.dir != s.dir)
			}
		}
		for name := range before {
			if _, ok := now[name]; !ok {
				w.polledChange(f, name, true)
			}
		}
	}
}

func (w *Watcher) polledChange(f *folder, base string, structural bool) {
	for _, name := range f.names {
		w.entryChanged(filepath.Join(name, base), structural)
	}
}

// look returns the state of those entries of f that matter: folders by their existence,
// other entries by time and size.
func (w *Watcher) look(f *folder) map[string]stamp {
	d, err := os.Open(f.path)
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }() // only read
	entries, _ := d.ReadDir(maxPolled)
	seen := make(map[string]stamp, len(entries))
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(f.path, e.Name()))
		switch {
		case err != nil:
			seen[e.Name()] = stamp{}
		case info.IsDir():
			seen[e.Name()] = stamp{dir: true}
		default:
			seen[e.Name()] = stamp{mod: info.ModTime(), size: info.Size()}
		}
	}
	return seen
}
