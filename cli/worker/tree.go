package workercli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	taskscli "jcode/cli/tasks"
	"jcode/internal/worktree"
)

// tree opens the worktree of the attempt: a fresh one of the base, or that of the session which is continued.
func (r *attempt) tree(ctx context.Context, home Home) (worktree.Tree, error) {
	t := r.task
	if t.Continue {
		return home.Tree(ctx, t)
	}
	if t.Dir != "" && (t.Repo == "" || filepath.Dir(t.Dir) == home.Trees) { // that of another machine is swept there
		if err := home.RemoveTree(ctx, t); err != nil {
			return worktree.Tree{}, fmt.Errorf("what an attempt before left can't be removed: %w", err)
		}
	}
	if t.Base == "" { // of a schedule
		base, err := worktree.Head(ctx, home.Git, home.Root)
		if err == nil {
			err = r.store.Based(ctx, t.ID, t.Attempt, base)
		}
		if err != nil {
			return worktree.Tree{}, err
		}
		t.Base, r.task.Base = base, base
	}
	dir, branch := home.Free(ctx, fmt.Sprintf("task-%d", t.ID))
	// It is noted before it is made: an attempt that dies in between leaves nothing that nobody knows of.
	if err := r.store.Began(ctx, t.ID, t.Attempt, "", dir, branch); err != nil {
		return worktree.Tree{}, err
	}
	tree, err := worktree.Add(ctx, worktree.Options{Git: home.Git, Root: home.Root, Dir: dir, Branch: branch, Commit: t.Base, Copy: home.Copy})
	if err != nil {
		if t.Base != "" && strings.Contains(err.Error(), t.Base) {
			err = fmt.Errorf("the commit %s that it begins with is gone from %s: add the task again (%w)", t.Base, taskscli.ShownPlace(t), err)
		}
		return worktree.Tree{}, err
	}
	r.task.Dir, r.task.Branch = dir, branch
	return tree, nil
}
