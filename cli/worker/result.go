package workercli

import (
	"context"
	"errors"
	"fmt"

	taskscli "jcode/cli/tasks"
	"jcode/internal/worktree"
	"jcode/tasks"
)

// errBundleLarge says what to do with a result that is too large for the queue.
var errBundleLarge = fmt.Errorf("what came out has more than %d MB as a bundle, so only its worktree has it: let large files out, or use --push", tasks.MaxBundle>>20)

// brings reports whether what comes out of the attempt goes into the queue: others may want it who don't have its folder.
func (r *attempt) brings() bool { return r.task.Repo != "" || r.store.Shared() }

// result returns what came out of the attempt, as it is kept.
func (r *attempt) result(ctx context.Context, home Home, at Place, commit string, pushed bool) (out tasks.Result, err error) {
	out.Commit = commit
	if r.store.Shared() {
		if out.Log, err = taskscli.PackLog(ctx, at.Store, r.task.Session); err != nil {
			return out, err
		}
	}
	if commit == "" || !r.brings() {
		return out, nil
	}
	out.Bundle, err = worktree.Bundle(ctx, home.Git, home.Root, r.task.Base, r.task.Branch, tasks.MaxBundle)
	if errors.Is(err, worktree.ErrLarge) && (pushed || r.task.Repo == "") {
		return out, nil // it is elsewhere too
	}
	if errors.Is(err, worktree.ErrLarge) {
		err = errBundleLarge
	}
	r.stays = err != nil
	return out, err
}
