package sandbox

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/protected"
)

// maxMarked bounds how many files below one protected path are examined.
const maxMarked = 2000

// Watched is a snapshot of the protected files before a command runs.
type Watched interface {
	// Open returns the protected paths that the command may change, sorted: those that are not locked.
	Open() []string
	// Changed returns the paths that were created or changed since, sorted.
	Changed() []string
}

// marks remembers the state of the protected paths that a command may still change: those that do not exist,
// since nothing can be mounted on them, and, if this machine can't lock anything, all of them.
type marks struct {
	policy Policy
	index  *index
	git    []string // git's own folders before the command
	before map[string]string
	// locked are the files that can't be changed in place: a folder above may be moved away and replaced.
	locked map[string]fs.FileInfo
}

// lockedState marks what can't change: it is not read.
const lockedState = "locked"

// mark records the state of the protected paths, which come from steering. locked says that those that exist
// can't be changed.
func (p Policy) mark(x *index, all found, locked bool) marks {
	m := marks{p, x, all.git, map[string]string{}, map[string]fs.FileInfo{}}
	for i, path := range all.paths {
		keeps := locked && i < maxLocked
		if m.before[path] = state(path, keeps); m.before[path] != "" && keeps {
			m.before[path] = lockedState
			if info, err := os.Stat(path); err == nil {
				m.locked[path] = info
			}
		}
	}
	return m
}

// steering returns all protected paths, including those that patterns match. Those at fixed places come first:
// only a limited number is locked, and a command can create others.
func (p Policy) steering(x *index) found {
	var all []string
	for _, root := range p.Roots {
		all = append(all, always(root)...)
		if p.Home != "" && paths.Within(root, p.Home) {
			all = append(all, protected.StartupFiles(p.Home)...)
		}
	}
	all = append(all, p.Hooks...)
	f := x.find(resolveAll(p.Roots))
	for _, root := range p.Roots {
		for _, pattern := range p.Protect {
			paths, whole := expand(root, pattern)
			f.paths = append(f.paths, paths...)
			if !whole {
				f.gaps = append(f.gaps, patternGap(pattern))
			}
		}
	}
	slices.Sort(f.paths)
	seen := map[string]bool{}
	f.paths = slices.DeleteFunc(append(all, f.paths...), func(path string) bool {
		was := seen[path]
		seen[path] = true
		return was
	})
	return f
}

// Open implements Watched.
func (m marks) Open() []string {
	var out []string
	for path, was := range m.before {
		if was != lockedState {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// Changed implements Watched.
func (m marks) Changed() []string {
	var out []string
	all := m.policy.steering(m.index)
	for _, path := range all.paths {
		if dir, is := worktree(path); is && m.before[filepath.Join(dir, "commondir")] == "" {
			continue // it is new; the .git file that points to it would be named
		}
		if was := m.before[path]; was == lockedState && m.replaced(path) || was != lockedState && isOther(path, was) {
			if dir := filepath.Dir(path); slices.Contains(all.git, dir) && !slices.Contains(m.git, dir) {
				path = dir // a repository that was created as a whole
			}
			out = append(out, path)
		}
	}
	for path, was := range m.before {
		if was == lockedState || was == "" || isPlan(path) || state(path, true) != "" {
			continue
		}
		if dir, is := worktree(path); is && state(dir, true) == "" {
			continue // it was removed as a whole
		}
		out = append(out, path) // no pattern matches it any more
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// worktree returns the folder in which a repository keeps the files of one worktree, given a file in it.
func worktree(path string) (dir string, is bool) {
	dir = filepath.Dir(path)
	return dir, filepath.Base(filepath.Dir(dir)) == "worktrees"
}

// replaced reports whether a locked file was replaced by another one.
func (m marks) replaced(path string) bool {
	now, err := os.Stat(path)
	was := m.locked[path]
	return err == nil && was != nil && !os.SameFile(was, now)
}

// isOther reports whether the state of a path that is not locked has changed in a way that steers git or jcode.
func isOther(path, was string) bool {
	if isPlan(path) {
		return adds(path, was)
	}
	return state(path, false) != was
}

// state describes what can be seen of a file or a tree without reading it; "" if it does not exist. only
// limits it to the path itself. Of the plan of a rebase it is what the plan runs.
func state(path string, only bool) string {
	if isPlan(path) {
		return strings.Join(runs(path), "\n")
	}
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	if only {
		return "there"
	}
	sum, n := fnv.New64a(), 0
	// An unreadable entry is recorded too: the error is part of the state.
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if n++; n > maxMarked {
			return fs.SkipAll
		}
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if err != nil {
			_, _ = fmt.Fprintf(sum, "%s %v\n", name, err) // a hash never fails
			return nil
		}
		_, _ = fmt.Fprintf(sum, "%s %v %d %d\n", name, info.Mode(), info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return fmt.Sprintf("%d %x", n, sum.Sum64())
}
