// Package merge brings what was changed in a worktree to the main tree: Steps computes what would change there, and
// names every conflict; Apply makes it, all of it or nothing, and loses nothing that another program saves meanwhile.
// It knows files and folders, no sessions and nobody who is asked.
package merge

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"jcode/internal/worktree"
)

// Step is the new state of one file of the main tree; a nil Now removes it.
type Step struct {
	Path      string // below the root, with slashes
	Ours, Now *worktree.File
}

// Diff shows what the step changes.
func (s Step) Diff() string { return fileDiff(s.Path, s.Ours, s.Now) }

// rank orders steps: what is removed comes first.
func (s Step) rank() int {
	if s.Now == nil {
		return 0
	}
	return 1
}

// Steps computes what brings the changes of a worktree to the main tree in a folder, and the conflicts, each with
// both sides: with any, nothing may be merged. sparse reports whether git leaves a file out of the main tree.
func Steps(dir string, changes []worktree.Change, sparse func(name string) bool) (steps []Step, conflicts []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }() // it is only read
	m := merging{root: root, sparse: sparse}
	for _, c := range changes {
		if err := m.add(c); err != nil {
			return nil, nil, fmt.Errorf("merge %s: %w", c.Path, err)
		}
	}
	if err := m.findObstacles(); err != nil {
		return nil, nil, err
	}
	// What goes makes room for what comes: a folder where a file was, and the other way round.
	slices.SortStableFunc(m.steps, func(a, b Step) int { return cmp.Compare(a.rank(), b.rank()) })
	return m.steps, m.conflicts, nil
}

// merging collects what a merge does to the main tree.
type merging struct {
	root      *os.Root
	sparse    func(name string) bool // reports whether git leaves a file out of the main tree
	steps     []Step
	conflicts []string
}

// add adds a change of the worktree.
func (m *merging) add(c worktree.Change) error {
	there, err := readIn(m.root, c.Path)
	if err != nil {
		return err
	}
	ours := there
	if c.From != "" {
		if ours, err = readIn(m.root, c.From); err != nil {
			return err
		}
	}
	if ours == nil && c.Base != nil && c.From == "" && m.sparse(c.Path) {
		ours = c.Base // it is not here because nobody needs it here, not because it was removed
	}
	merged, ok := mergeFile(c.Base, ours, c.Theirs)
	switch {
	case c.From == "" && !ok:
		m.conflict(c.Path, fileDiff(c.Path, c.Base, ours), fileDiff(c.Path, c.Base, c.Theirs))
	case c.From != "" && ours == nil && sameFile(there, c.Theirs): // the same was renamed here
	case c.From != "" && (!ok || there != nil && !sameFile(there, merged)):
		m.conflict(c.From+" → "+c.Path, fileDiff(c.From, c.Base, ours)+fileDiff(c.Path, nil, there), fileDiff(c.Path, c.Base, c.Theirs))
	default:
		if c.From != "" {
			m.steps = append(m.steps, Step{c.From, ours, nil})
		}
		if !sameFile(there, merged) {
			m.steps = append(m.steps, Step{c.Path, there, merged})
		}
	}
	return nil
}

func (m *merging) conflict(name, here, inWorktree string) {
	m.conflicts = append(m.conflicts, name+":\n--- here\n"+here+"--- in the worktree\n"+inWorktree)
}

// findObstacles adds a conflict for each file that cannot be written because a file is where its
// folder would be, or a folder with other files where it would be.
func (m *merging) findObstacles() error {
	removed := map[string]bool{}
	for _, st := range m.steps {
		removed[st.Path] = st.Now == nil
	}
	for _, st := range m.steps {
		if st.Now == nil {
			continue
		}
		if blocker, err := blockingFile(m.root, st.Path); err != nil {
			return fmt.Errorf("merge %s: %w", st.Path, err)
		} else if blocker != "" && !removed[blocker] {
			m.conflict(st.Path, blocker+" is a file\n", blocker+" is a folder\n")
		}
		info, err := m.root.Lstat(filepath.FromSlash(st.Path))
		if err != nil || !info.IsDir() {
			continue // a folder in its way was named above
		}
		err = fs.WalkDir(m.root.FS(), st.Path, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !removed[name] {
				m.conflict(st.Path, "it is a folder that holds "+name+"\n", "it is a file\n")
				return fs.SkipAll
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("merge %s: %w", st.Path, err)
		}
	}
	return nil
}
