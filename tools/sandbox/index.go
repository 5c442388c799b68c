package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"jcode/internal/protected"
)

// Limits of a search for protected files.
const (
	maxFolders = 10_000                // folders of all roots that are read
	racy       = 50 * time.Millisecond // a folder that changed this shortly before it was read is read again
)

// index finds protected files by name, anywhere below the roots. It remembers folders that have not changed,
// so that a second search only reads the others. It is safe for concurrent use.
type index struct {
	most    int // folders that a search reads
	mu      sync.Mutex
	folders map[string]seenFolder
}

// seenFolder is what a folder contained when it was read.
type seenFolder struct {
	changed, read time.Time
	below         []string // names of folders in it that are searched
	found         []string // names of protected files and folders in it
	git           bool     // git takes it for one of its own folders
}

// found is the result of a search.
type found struct {
	paths []string // protected files and folders; parts of git's folders even if they do not exist
	git   []string // git's own folders
	gaps  []Gap    // what the search left out
}

// find searches below the roots, the top levels first.
func (x *index) find(roots []string) found {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out found
	now := make(map[string]seenFolder, len(x.folders))
	queue := slices.Clone(roots)
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		if _, twice := now[dir]; twice {
			continue
		}
		if len(now) >= x.most {
			out.gaps = append(out.gaps, foldersGap(x.most))
			break
		}
		f, ok := x.look(dir)
		if !ok {
			continue
		}
		now[dir] = f
		if f.git {
			out.addGit(dir)
			continue
		}
		for _, name := range f.found {
			path := filepath.Join(dir, name)
			if info, err := os.Lstat(path); err == nil && info.IsDir() && protected.Name(name) == protected.Git {
				out.addGit(path)
			} else {
				out.paths = append(out.paths, path)
			}
		}
		for _, name := range f.below {
			queue = append(queue, filepath.Join(dir, name))
		}
	}
	x.folders = now
	return out
}

func (f *found) addGit(dir string) {
	f.git = append(f.git, dir)
	for _, name := range protected.GitFiles() {
		f.paths = append(f.paths, filepath.Join(dir, name))
	}
	f.paths = append(f.paths, included(filepath.Join(dir, "config"), 0)...)
	paths, whole := expand(dir, "worktrees/*/{config.worktree,commondir,rebase-merge/git-rebase-todo}")
	modules, all := submodules(filepath.Join(dir, "modules"))
	f.paths = slices.Concat(f.paths, paths, modules)
	if !whole || !all {
		f.gaps = append(f.gaps, gitGap(dir))
	}
}

// look reads a folder unless it is unchanged. The caller holds mu.
func (x *index) look(dir string) (seenFolder, bool) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return seenFolder{}, false
	}
	if was, ok := x.folders[dir]; ok && was.changed.Equal(info.ModTime()) && was.read.Sub(was.changed) > racy {
		return was, true
	}
	f := seenFolder{changed: info.ModTime(), read: time.Now()}
	open, err := os.Open(dir)
	if err != nil {
		return seenFolder{}, false // what can't be listed can't be searched
	}
	entries, err := open.ReadDir(-1)
	_ = open.Close() // only read
	if err != nil && len(entries) == 0 {
		return seenFolder{}, false
	}
	has := map[string]bool{}
	for _, e := range entries {
		has[e.Name()] = true
		switch {
		case protected.Name(e.Name()) != "":
			f.found = append(f.found, e.Name())
		case e.Type()&fs.ModeType == fs.ModeDir:
			f.below = append(f.below, e.Name())
		}
	}
	f.git = protected.IsGitFolder(func(name string) bool { return has[name] })
	return f, true
}
