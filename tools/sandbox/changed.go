package sandbox

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// maxMarked bounds how many files below one protected path are looked at.
const maxMarked = 2000

// marks remembers the state of protected paths that a command may change all the same:
// those that are not there, since nothing can be mounted on them, and where this machine
// can't lock anything, all of them.
type marks struct {
	policy Policy
	before map[string]string
}

// lockedState stands for what can't change: it is not looked at.
const lockedState = "locked"

// mark looks at the protected paths of a policy.
func (p Policy) mark(locked bool) marks {
	m := marks{p, map[string]string{}}
	for _, path := range p.steering() {
		if m.before[path] = state(path, locked); m.before[path] != "" && locked {
			m.before[path] = lockedState
		}
	}
	return m
}

// steering gives all protected paths, those that patterns stand for included.
func (p Policy) steering() []string {
	var out []string
	for _, root := range p.Roots {
		out = append(out, protected(root)...)
		for _, pattern := range p.Protect {
			out = append(out, expand(root, pattern)...)
		}
	}
	return out
}

// changed gives the paths whose state is another one now, sorted.
func (m marks) changed() []string {
	var out []string
	for _, path := range m.policy.steering() {
		if was := m.before[path]; was != lockedState && state(path, false) != was {
			out = append(out, path)
		}
	}
	for path, was := range m.before {
		if was != lockedState && was != "" && state(path, true) == "" {
			out = append(out, path) // no pattern finds it any more
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// state is what can be seen of a file or a tree without reading it, "" where there is
// nothing. only asks no more than that.
func state(path string, only bool) string {
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	if only {
		return "there"
	}
	sum, n := fnv.New64a(), 0
	// What can't be looked at counts as it is: an error is part of the state.
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
