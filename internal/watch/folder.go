package watch

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"jcode/internal/folders"
)

// folder is one folder that is watched or polled, known by its resolved path, since
// one folder can have several names and the system watches it once.
type folder struct {
	path   string // resolved
	names  []string
	polled bool
	seen   map[string]stamp // state at the last poll
	made   int              // entries added since the size was last checked
}

// leaf is a folder below a root, given by its index, in which no folder is watched.
type leaf struct {
	root   int
	folder string
}

// resync makes the watched folders match the roots and the disk. With report set, the contents of new folders
// are reported as changed.
func (w *Watcher) resync(ctx context.Context, report bool) {
	want := w.wanted(ctx)
	if ctx.Err() != nil {
		return // the watching ends: what was not found is not gone
	}
	for _, f := range w.folders {
		names, ok := want[f.path]
		w.reportGone(f, names, report)
		if !ok {
			w.drop(f)
		}
	}
	for path, names := range want {
		f := w.folders[path]
		if f == nil {
			f = &folder{path: path}
			w.folders[path] = f
			w.attach(f)
		}
		fresh := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(f.names, n) })
		f.names = names
		if report {
			for _, name := range fresh {
				w.reportContents(name)
			}
		}
	}
}

// reportGone reports those names of f below the roots that are no longer among keep.
func (w *Watcher) reportGone(f *folder, keep []string, report bool) {
	if !report {
		return
	}
	for _, name := range f.names {
		if !slices.Contains(keep, name) && !isDir(name) {
			w.reportInRoots(name)
		}
	}
}

// reportInRoots reports a folder if it is a root or below one.
func (w *Watcher) reportInRoots(name string) {
	if slices.ContainsFunc(w.roots, func(r Root) bool { return within(r.Path, name) >= 0 }) {
		w.report(name)
	}
}

// reportContents reports the contents of a folder that was just added: its files may have been written before
// the watch existed.
func (w *Watcher) reportContents(name string) {
	for i := range w.roots {
		r := &w.roots[i]
		depth := within(r.Path, name)
		if depth < 0 || depth > r.Depth {
			continue
		}
		if depth == 0 && r.Match == nil {
			w.report(name)
		}
		entries, err := os.ReadDir(name)
		if err != nil {
			continue // it was removed again, which is reported
		}
		for _, e := range entries {
			if path := filepath.Join(name, e.Name()); !IsEditorTemp(e.Name()) && r.matches(path) {
				w.report(path)
			}
		}
	}
}

// wanted returns the folders to watch by resolved path, each with its names.
func (w *Watcher) wanted(ctx context.Context) map[string][]string {
	want := map[string][]string{}
	w.leaves = map[leaf]bool{}
	add := func(name string) bool {
		real, err := filepath.EvalSymlinks(name)
		if err != nil {
			return false
		}
		if names, ok := want[real]; ok {
			if !slices.Contains(names, name) {
				want[real] = append(names, name)
			}
			return true
		}
		if len(want) >= w.opts.MaxFolders {
			w.notice("folders", fmt.Sprintf("more than %d folders to watch: changes below %s are only seen on a reload",
				w.opts.MaxFolders, name))
			return false
		}
		want[real] = []string{name}
		return true
	}
	// All roots come before any folder below them, so that a large root does not starve the others.
	for _, r := range w.roots {
		if parent := nearest(r.Path); parent != r.Path {
			add(parent)
			continue
		}
		add(r.Path)
		add(filepath.Dir(r.Path)) // reports when the root is removed or replaced
	}
	for i := range w.roots {
		if isDir(w.roots[i].Path) {
			w.walk(ctx, i, add)
		}
	}
	return want
}

// walk adds the folders below a root.
func (w *Watcher) walk(ctx context.Context, root int, add func(string) bool) {
	r := &w.roots[root]
	// The error is the context's; what can't be read or was removed has nothing to watch.
	_ = folders.Walk{Links: r.Links}.Run(ctx, r.Path, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case !d.IsDir():
			return nil
		case path != r.Path && (r.Enter != nil && !r.Enter(path) || !add(path)):
			return fs.SkipDir
		case within(r.Path, path) >= r.Depth:
			return fs.SkipDir
		case r.Leaf != nil && r.Leaf(path):
			w.leaves[leaf{root, path}] = true
			return fs.SkipDir
		}
		return nil
	})
}

// nearest returns path if it is a folder, otherwise its nearest parent that is one.
func nearest(path string) string {
	for !isDir(path) {
		parent := filepath.Dir(path)
		if parent == path {
			return path
		}
		path = parent
	}
	return path
}

// attach starts watching f, or polling it if it cannot be watched.
func (w *Watcher) attach(f *folder) {
	switch {
	case w.notify == nil:
		f.polled = true
	case w.opts.MaxEntries > 0 && entriesOver(f.path, w.opts.MaxEntries):
		f.polled = true
	default:
		if err := w.notify.Add(f.path); err != nil {
			f.polled = true
			w.notice("watch", fmt.Sprintf("cannot watch %s (%v): looking every %v instead", f.path, err, w.opts.Poll))
		} else if noEvents(f.path) {
			f.polled = true // a network file system reports only local changes
		}
	}
	if f.polled {
		f.seen = w.look(f)
	}
}

// grew counts a new entry of f, and switches to polling if there are too many for the system's watch.
func (w *Watcher) grew(f *folder) {
	if w.opts.MaxEntries <= 0 || f.polled {
		return
	}
	if f.made++; f.made <= w.opts.MaxEntries/4 {
		return
	}
	f.made = 0
	if !entriesOver(f.path, w.opts.MaxEntries) {
		return
	}
	// It does not matter if the watch is already gone.
	_ = w.notify.Remove(f.path)
	f.polled = true
	f.seen = w.look(f)
	// Changes that the watch had not reported yet are lost with it, and the first poll already includes them:
	// everything is reported as changed once.
	for _, name := range f.names {
		w.reportContents(name)
	}
	w.stale = true
}

func (w *Watcher) drop(f *folder) {
	delete(w.folders, f.path)
	if w.notify != nil {
		// The system has already dropped the watch if the folder is gone.
		_ = w.notify.Remove(f.path)
	}
}

// entriesOver reports whether a folder has more than limit entries.
func entriesOver(path string, limit int) bool {
	d, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = d.Close() }() // only read
	names, _ := d.Readdirnames(limit + 1)
	return len(names) > limit
}
