package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"jcode/internal/atomicfile"
	"jcode/internal/diff"
	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/tools"
)

// mergeStep is the new state of one file of the main tree; a nil File removes it.
type mergeStep struct {
	path      string // below the root
	ours, now *worktree.File
}

// Plan implements agent.Site: the merge as the gate judges it.
func (s *agentSite) Plan(ctx context.Context) (tools.Plan, error) {
	steps, err := s.steps(ctx)
	if err != nil {
		return tools.Plan{}, err
	}
	plan := tools.Plan{Summary: fmt.Sprintf("Merge %s of the agent %s", text.Count(len(steps), "file"), s.name)}
	for _, st := range steps {
		access := tools.Access{Kind: tools.AccessWrite}
		if st.now == nil {
			access.Kind = tools.AccessDelete
		}
		if access.Path, err = paths.Inside(s.main.root, filepath.Join(s.main.root, filepath.FromSlash(st.path))); err != nil {
			return tools.Plan{}, fmt.Errorf("%s: %w", st.path, err)
		}
		plan.Accesses = append(plan.Accesses, access)
		plan.Diff += fileDiff(st.path, st.ours, st.now)
	}
	return plan, nil
}

// Merge implements agent.Site.
func (s *agentSite) Merge(ctx context.Context, call tools.Call) (string, error) {
	steps, err := s.steps(ctx)
	if err != nil {
		return "", err
	}
	if len(steps) == 0 {
		return "There is nothing to merge: the files are as in the worktree of " + s.name + " already.", nil
	}
	var whole []string
	for _, st := range steps {
		whole = append(whole, filepath.Join(s.main.root, filepath.FromSlash(st.path)))
	}
	done, err := newRecorder(s.main).Track(ctx, call, whole)
	if err != nil {
		return "", fmt.Errorf("nothing was merged: the state of the files could not be kept for undo: %w", err)
	}
	err = s.apply(steps)
	if err := errors.Join(err, done(context.WithoutCancel(ctx))); err != nil {
		return "", err
	}
	var names []string
	for _, st := range steps {
		names = append(names, st.path)
	}
	return fmt.Sprintf("Merged %s of %s: %s.", text.Count(len(steps), "file"), s.name, strings.Join(names, ", ")), nil
}

// steps computes what a merge does. On a conflict nothing is done, and the error lists every
// conflict with both sides.
func (s *agentSite) steps(ctx context.Context) ([]mergeStep, error) {
	if err := s.tree.Check(ctx); err != nil {
		return nil, err
	}
	changes, err := s.tree.Changes(ctx)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.main.root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it is only read
	var steps []mergeStep
	var conflicts []string
	for _, c := range changes {
		ours, err := readIn(root, c.Path)
		if err != nil {
			return nil, fmt.Errorf("merge %s: %w", c.Path, err)
		}
		merged, ok := mergeFile(c.Base, ours, c.Theirs)
		switch {
		case !ok:
			conflicts = append(conflicts, c.Path+":\n--- here\n"+fileDiff(c.Path, c.Base, ours)+"--- in the worktree\n"+fileDiff(c.Path, c.Base, c.Theirs))
		case !sameFile(ours, merged):
			steps = append(steps, mergeStep{c.Path, ours, merged})
		}
	}
	if conflicts != nil {
		return nil, tools.Errorf(tools.KindIO, "%s changed here and in the worktree of %s, so nothing was merged. Change one side so that they agree:\n\n%s",
			text.Count(len(conflicts), "file"), s.name, text.Cut(strings.Join(conflicts, "\n"), 20_000))
	}
	return steps, nil
}

// mergeFile applies the change from base to theirs to ours; false if both changed the same place.
func mergeFile(base, ours, theirs *worktree.File) (*worktree.File, bool) {
	switch {
	case sameFile(ours, base), sameFile(ours, theirs):
		return theirs, true
	case base == nil || ours == nil || theirs == nil || base.Link || ours.Link || theirs.Link,
		!utf8.Valid(base.Data) || !utf8.Valid(ours.Data) || !utf8.Valid(theirs.Data):
		return nil, false
	}
	merged, ok := diff.Merge(string(base.Data), string(ours.Data), string(theirs.Data))
	return &worktree.File{Data: []byte(merged), Exec: theirs.Exec}, ok
}

func sameFile(a, b *worktree.File) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Link == b.Link && bytes.Equal(a.Data, b.Data)
}

// readIn reads a file of the main tree; nil if there is none.
func readIn(root *os.Root, name string) (*worktree.File, error) {
	info, err := root.Lstat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // that there is none is no error
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := root.Readlink(filepath.FromSlash(name))
		return &worktree.File{Data: []byte(to), Link: true}, err
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	}
	data, err := root.ReadFile(filepath.FromSlash(name))
	return &worktree.File{Data: data, Exec: info.Mode()&0o100 != 0}, err
}

// apply carries out the steps. If one fails, those before it are reverted.
func (s *agentSite) apply(steps []mergeStep) error {
	root, err := os.OpenRoot(s.main.root)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what was written is already closed
	for i, st := range steps {
		err := putIn(root, st.path, st.now)
		if err == nil {
			continue
		}
		err = fmt.Errorf("nothing was merged: %s: %w", st.path, err)
		for _, back := range steps[:i] {
			err = errors.Join(err, putIn(root, back.path, back.ours))
		}
		return err
	}
	return nil
}

func putIn(root *os.Root, name string, f *worktree.File) error {
	local := filepath.FromSlash(name)
	if f == nil {
		return root.Remove(local)
	}
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
			return err
		}
	}
	if f.Link {
		if err := root.Remove(local); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return root.Symlink(string(f.Data), local)
	}
	perm := fs.FileMode(0o666)
	if f.Exec {
		perm = 0o777
	}
	parent, err := root.OpenRoot(filepath.FromSlash(path.Dir(name)))
	if err != nil {
		return err
	}
	defer func() { _ = parent.Close() }() // the file in it is written
	return atomicfile.WriteIn(parent, path.Base(name), f.Data, atomicfile.Options{Perm: perm})
}

func fileDiff(name string, from, to *worktree.File) string {
	data := func(f *worktree.File) *string {
		if f == nil {
			return nil
		}
		s := string(f.Data)
		return &s
	}
	return diff.Files(name, data(from), data(to)).Text
}
