package taskscli

import (
	"context"
	"fmt"

	"jcode/cli/console"
	"jcode/internal/worktree"
	"jcode/tasks"
)

type diffCmd struct {
	ID taskID `arg:"" name:"number" help:"The task's number."`
}

// Run prints what a task changed.
func (c *diffCmd) Run(ctx context.Context, std Setup) error {
	return withTasks(ctx, std, func(store *tasks.Store) error {
		t, err := store.Get(ctx, int64(c.ID))
		if err != nil {
			return err
		}
		if t.Branch == "" {
			return console.Usage("task %d has no branch: %s", t.ID, whyNoBranch(t))
		}
		in, to := inFolder, t.Branch
		if !store.Here(t) {
			to = t.Commit
			in = func(ctx context.Context, std Setup, t tasks.Task, do func(c Checkout) error) error {
				return inOwnRepository(ctx, std, store, t, do)
			}
		}
		return in(ctx, std, t, func(c Checkout) error {
			diff, err := worktree.Between(ctx, c.Git, c.Root, taskBase(t), to)
			if err != nil {
				return console.Usage("task %d: %w", t.ID, err)
			}
			if diff != "" {
				diff += "\n"
			}
			_, err = fmt.Fprint(std.Out, diff)
			return err
		})
	})
}

// taskBase names the commit that a task began with.
func taskBase(t tasks.Task) string {
	if t.Base == "" { // one of a schedule
		return "HEAD"
	}
	return t.Base
}
