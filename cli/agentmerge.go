package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"jcode/internal/diff"
	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/tools"
	"jcode/tools/builtin"
)

// Plan implements agent.Site: the merge as the gate judges it.
func (s *agentSite) Plan(ctx context.Context) (tools.Plan, error) {
	steps, left, err := s.steps(ctx)
	if err != nil {
		return tools.Plan{}, err
	}
	plan := tools.Plan{Summary: fmt.Sprintf("Merge %s of the agent %s", text.Count(len(steps), "file"), s.name)}
	for _, what := range left {
		plan.Notes = append(plan.Notes, "not merged: "+what)
	}
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
func (s *agentSite) Merge(ctx context.Context, call tools.Call) (said string, left []string, err error) {
	steps, left, err := s.steps(ctx)
	if err != nil {
		return "", nil, err
	}
	if len(steps) == 0 && len(left) > 0 {
		return "There is nothing that can be merged.", left, nil
	}
	if len(steps) == 0 {
		return "There is nothing to merge: the files are as in the worktree of " + s.name + " already.", nil, nil
	}
	names := mapSlice(steps, func(st mergeStep) string { return st.path })
	whole := mapSlice(names, func(name string) string { return filepath.Join(s.main.root, filepath.FromSlash(name)) })
	recorder := newRecorder(s.main)
	recorder.author = "the merge of " + s.name
	done, err := recorder.Track(ctx, call, whole)
	if err != nil {
		return "", nil, fmt.Errorf("nothing was merged: the state of the files could not be kept for undo: %w", err)
	}
	merge, err := applyMerge(s.main.root, s.main.cwd, steps)
	written := builtin.Written{Files: map[string][]byte{}, Nothing: merge.Nothing}
	for name, data := range merge.Files {
		written.Files[filepath.Join(s.main.root, filepath.FromSlash(name))] = data
	}
	for _, k := range merge.kept {
		err = errors.Join(err, recorder.Found(context.WithoutCancel(ctx), call, filepath.Join(s.main.root, filepath.FromSlash(k.name)), k.read, k.found))
	}
	if err := errors.Join(err, done(context.WithoutCancel(ctx), written)); err != nil {
		return "", nil, err
	}
	slices.Sort(names)
	said = fmt.Sprintf("Merged %s of %s: %s.", text.Count(len(steps), "file"), s.name, strings.Join(names, ", "))
	if len(merge.kept) > 0 {
		said += fmt.Sprintf(" Another program saved %s at this moment: that was kept, in other lines.",
			strings.Join(mapSlice(merge.kept, func(k savedBeside) string { return k.name }), ", "))
	}
	return said, left, nil
}

// steps computes what a merge does, and names what it can't take along. On a conflict nothing is done, and the
// error lists every conflict with both sides.
func (s *agentSite) steps(ctx context.Context) (steps []mergeStep, left []string, err error) {
	if err := s.check(ctx); err != nil {
		return nil, nil, err
	}
	work, err := s.tree.Work(ctx)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(s.main.root)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }() // it is only read
	m := merging{root: root, sparse: func(name string) bool { return s.tree.Sparse(ctx, name) }}
	for _, c := range work.Changes {
		if err := m.add(c); err != nil {
			return nil, nil, fmt.Errorf("merge %s: %w", c.Path, err)
		}
	}
	if err := m.findObstacles(); err != nil {
		return nil, nil, err
	}
	if m.conflicts != nil {
		return nil, nil, tools.Errorf(tools.KindIO, "%s changed here and in the worktree of %s, so nothing was merged. Change one side so that they agree:\n\n%s",
			text.Count(len(m.conflicts), "file"), s.name, text.Cut(strings.Join(m.conflicts, "\n"), 20_000))
	}
	// What goes makes room for what comes: a folder where a file was, and the other way round.
	slices.SortStableFunc(m.steps, func(a, b mergeStep) int { return cmp.Compare(a.rank(), b.rank()) })
	return m.steps, work.Left, nil
}

// merging collects what a merge does to the main tree.
type merging struct {
	root      *os.Root
	sparse    func(name string) bool // reports whether git leaves a file out of the main tree
	steps     []mergeStep
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
			m.steps = append(m.steps, mergeStep{c.From, ours, nil})
		}
		if !sameFile(there, merged) {
			m.steps = append(m.steps, mergeStep{c.Path, there, merged})
		}
	}
	return nil
}

func (m *merging) conflict(name, here, inWorktree string) {
	m.conflicts = append(m.conflicts, name+":\n--- here\n"+here+"--- in the worktree\n"+inWorktree)
}

// mergeFile applies the change from base to theirs to ours; false if both changed the same place.
func mergeFile(base, ours, theirs *worktree.File) (*worktree.File, bool) {
	switch {
	case sameFile(ours, base), sameFile(ours, theirs):
		return theirs, true
	case base == nil || ours == nil || theirs == nil || base.Link || ours.Link || theirs.Link:
		return nil, false
	}
	merged := &worktree.File{Exec: ours.Exec}
	if ours.Exec == base.Exec {
		merged.Exec = theirs.Exec
	}
	switch {
	case bytes.Equal(ours.Data, base.Data), bytes.Equal(ours.Data, theirs.Data):
		merged.Data = theirs.Data
		return merged, true
	case bytes.Equal(theirs.Data, base.Data):
		merged.Data = ours.Data
		return merged, true
	case !isText(base) || !isText(ours) || !isText(theirs):
		return nil, false
	}
	data, ok := diff.Merge(string(base.Data), string(ours.Data), string(theirs.Data))
	merged.Data = []byte(data)
	return merged, ok
}

// isText reports whether a file can be merged and shown by lines.
func isText(f *worktree.File) bool { return utf8.Valid(f.Data) && bytes.IndexByte(f.Data, 0) < 0 }

func sameFile(a, b *worktree.File) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Link == b.Link && a.Exec == b.Exec && bytes.Equal(a.Data, b.Data)
}

// fileDiff shows what differs between two states of a file.
func fileDiff(name string, from, to *worktree.File) string {
	data := func(f *worktree.File) *string {
		if f == nil {
			return nil
		}
		s := string(f.Data)
		return &s
	}
	said := ""
	if from != nil && to != nil && from.Exec != to.Exec {
		said = fmt.Sprintf("%s: mode %s → %s\n", name, from.Mode(), to.Mode())
	}
	if (from == nil || isText(from)) && (to == nil || isText(to)) {
		return said + diff.Files(name, data(from), data(to)).Text
	}
	size := func(f *worktree.File) string {
		if f == nil {
			return "absent"
		}
		return text.Count(len(f.Data), "byte")
	}
	if from != nil && to != nil && bytes.Equal(from.Data, to.Data) {
		return said
	}
	return said + fmt.Sprintf("%s: binary, %s → %s\n", name, size(from), size(to))
}
