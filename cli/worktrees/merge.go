package worktreescli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/internal/worktree/merge"
	"jcode/tools"
	"jcode/tools/builtin"
)

// Plan implements agent.Site: the merge as the gate judges it.
func (s *Site) Plan(ctx context.Context) (tools.Plan, error) {
	steps, left, err := s.steps(ctx)
	if err != nil {
		return tools.Plan{}, err
	}
	plan := tools.Plan{Summary: fmt.Sprintf("Merge %s of the agent %s", text.Count(len(steps), "file"), s.Name)}
	for _, what := range left {
		plan.Notes = append(plan.Notes, "not merged: "+what)
	}
	for _, st := range steps {
		access := tools.Access{Kind: tools.AccessWrite}
		if st.Now == nil {
			access.Kind = tools.AccessDelete
		}
		if access.Path, err = paths.Inside(s.checkout.Root, filepath.Join(s.checkout.Root, filepath.FromSlash(st.Path))); err != nil {
			return tools.Plan{}, fmt.Errorf("%s: %w", st.Path, err)
		}
		plan.Accesses = append(plan.Accesses, access)
		plan.Diff += st.Diff()
	}
	return plan, nil
}

// Merge implements agent.Site.
func (s *Site) Merge(ctx context.Context, call tools.Call) (said string, left []string, err error) {
	steps, left, err := s.steps(ctx)
	if err != nil {
		return "", nil, err
	}
	if len(steps) == 0 && len(left) > 0 {
		return "There is nothing that can be merged.", left, nil
	}
	if len(steps) == 0 {
		return "There is nothing to merge: the files are as in the worktree of " + s.Name + " already.", nil, nil
	}
	names := slicex.Map(steps, func(st merge.Step) string { return st.Path })
	whole := slicex.Map(names, func(name string) string { return filepath.Join(s.checkout.Root, filepath.FromSlash(name)) })
	recorder := s.checkout.Recorder
	recorder.Author = "the merge of " + s.Name
	done, err := recorder.Track(ctx, call, whole)
	if err != nil {
		return "", nil, fmt.Errorf("nothing was merged: the state of the files could not be kept for undo: %w", err)
	}
	applied, err := merge.Apply(s.checkout.Root, s.checkout.Cwd, steps)
	written := builtin.Written{Files: map[string][]byte{}, Nothing: applied.Nothing}
	for name, data := range applied.Files {
		written.Files[filepath.Join(s.checkout.Root, filepath.FromSlash(name))] = data
	}
	for _, k := range applied.Kept {
		err = errors.Join(err, recorder.Found(context.WithoutCancel(ctx), call, filepath.Join(s.checkout.Root, filepath.FromSlash(k.Name)), k.Read, k.Found))
	}
	if err := errors.Join(err, done(context.WithoutCancel(ctx), written)); err != nil {
		return "", nil, err
	}
	slices.Sort(names)
	said = fmt.Sprintf("Merged %s of %s: %s.", text.Count(len(steps), "file"), s.Name, strings.Join(names, ", "))
	if len(applied.Kept) > 0 {
		said += fmt.Sprintf(" Another program saved %s at this moment: that was kept, in other lines.",
			strings.Join(slicex.Map(applied.Kept, func(k merge.Saved) string { return k.Name }), ", "))
	}
	return said, left, nil
}

// steps computes what a merge does, and names what it can't take along. On a conflict nothing is done, and the
// error lists every conflict with both sides.
func (s *Site) steps(ctx context.Context) (steps []merge.Step, left []string, err error) {
	if err := s.check(ctx); err != nil {
		return nil, nil, err
	}
	work, err := s.Tree.Work(ctx)
	if err != nil {
		return nil, nil, err
	}
	steps, conflicts, err := merge.Steps(s.checkout.Root, work.Changes, func(name string) bool { return s.Tree.Sparse(ctx, name) })
	if err != nil {
		return nil, nil, err
	}
	if conflicts != nil {
		return nil, nil, tools.Errorf(tools.KindIO, "%s changed here and in the worktree of %s, so nothing was merged. Change one side so that they agree:\n\n%s",
			text.Count(len(conflicts), "file"), s.Name, text.Cut(strings.Join(conflicts, "\n"), 20_000))
	}
	return steps, work.Left, nil
}
