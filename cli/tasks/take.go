package taskscli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/tasks"
)

type takeCmd struct {
	ID     taskID `arg:"" name:"number" help:"The task's number."`
	Bundle string `help:"Write what came out to this file, as a git bundle, instead of merging it." placeholder:"FILE"`
}

// Run merges what a task changed.
func (c *takeCmd) Run(ctx context.Context, std Setup) error {
	return withTasks(ctx, std, func(store *tasks.Store) error {
		t, err := store.Get(ctx, int64(c.ID))
		if err != nil {
			return err
		}
		take := func() (string, error) { return takeTask(ctx, std, store, t) }
		if c.Bundle != "" {
			take = func() (string, error) { return saveBundle(ctx, store, t, c.Bundle) }
		}
		said, err := take()
		if err != nil {
			return console.Usage("task %d: %w", t.ID, err)
		}
		fmt.Fprintln(std.Out, text.Visible(said))
		return nil
	})
}

// takeTask merges what a task changed into the folder that it was added for, or into the one of this run if it worked
// elsewhere, as files that are not committed. What is merged whole needs its worktree no more.
func takeTask(ctx context.Context, std Setup, store *tasks.Store, t tasks.Task) (said string, err error) {
	switch {
	case !t.Taken.IsZero():
		return "", errors.New("it was taken before")
	case t.State != tasks.Done && t.State != tasks.Failed:
		return "", fmt.Errorf("it is %s: there is nothing to take yet", t.State)
	case t.Commit == "" || t.Dir == "" && store.Here(t):
		return "", errors.New("nothing came out of it that could be merged")
	case !store.Here(t):
		return takeBundle(ctx, std, store, t)
	}
	err = inFolder(ctx, std, t, func(c Checkout) error {
		tree, err := c.Tree(ctx, t)
		if err != nil {
			return err
		}
		whole := false
		if said, whole, err = merged(ctx, c, tree, fmt.Sprintf("The worktree stays until jcode tasks rm %d: %s", t.ID, t.Dir)); err != nil {
			return err
		}
		if whole {
			err = c.RemoveTree(ctx, t)
		}
		return errors.Join(err, store.Took(ctx, t.ID, !whole))
	})
	return said, err
}

// merged merges a worktree into the folder that it is a copy of. What can't be merged stays: rest says where.
func merged(ctx context.Context, c Checkout, tree worktree.Tree, rest string) (said string, whole bool, err error) {
	said, left, err := c.Merge(ctx, tree)
	if len(left) > 0 {
		said += fmt.Sprintf("\nnot merged: %s\n%s", strings.Join(left, ", "), rest)
	}
	return said, len(left) == 0, err
}

func whyNoBranch(t tasks.Task) string {
	if !t.Taken.IsZero() {
		return "it was taken"
	}
	return "it is " + string(t.State)
}

// inOwnRepository opens the folder of this run, whose repository must have the commit that a task began with,
// and adds to it what came out of the task.
func inOwnRepository(ctx context.Context, std Setup, store *tasks.Store, t tasks.Task, do func(c Checkout) error) error {
	brought, err := store.Results().Of(ctx, t.ID)
	switch {
	case err != nil:
		return err
	case len(brought.Bundle) == 0 && t.Commit != "" && t.Taken.IsZero():
		return fmt.Errorf("the queue does not have what came out of it. It is in %s on the machine that worked on it, or where it was pushed", text.Visible(t.Dir))
	case len(brought.Bundle) == 0:
		return errors.New(whyNoBranch(t))
	}
	here := t
	here.Repo, here.Folder = "", "" // that of this run
	return inFolder(ctx, std, here, func(c Checkout) error {
		if !worktree.Has(ctx, c.Git, c.Root, t.Base) {
			return fmt.Errorf("the commit %s that it began with is not in %s. Run this in a clone of %s that has it (git fetch), or write the result to a file: jcode tasks take %d --bundle FILE", t.Base, c.Root, text.Visible(ShownPlace(t)), t.ID)
		}
		if err := worktree.Unbundle(ctx, c.Git, c.Root, brought.Bundle, t.Base, t.Commit); err != nil {
			return fmt.Errorf("its bundle is damaged or does not fit (%w): nothing was changed. jcode tasks retry %d begins again if it failed; else add the task again", err, t.ID)
		}
		return do(c)
	})
}

// takeBundle merges what came out of a task elsewhere into the folder of this run.
func takeBundle(ctx context.Context, std Setup, store *tasks.Store, t tasks.Task) (said string, err error) {
	err = inOwnRepository(ctx, std, store, t, func(c Checkout) (err error) {
		dir, branch := c.Free(ctx, fmt.Sprintf("task-%d", t.ID))
		tree, err := worktree.Add(ctx, worktree.Options{Git: c.Git, Root: c.Root, Dir: dir, Branch: branch, Commit: t.Base})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, tree.Remove(context.WithoutCancel(ctx))) }()
		if err := tree.Become(ctx, t.Commit); err != nil {
			return err
		}
		whole := false
		if said, whole, err = merged(ctx, c, tree, fmt.Sprintf("The queue keeps it until jcode tasks rm %d", t.ID)); err != nil {
			return err
		}
		return store.Took(ctx, t.ID, !whole)
	})
	return said, err
}

// saveBundle writes what came out of a task to a file.
func saveBundle(ctx context.Context, store *tasks.Store, t tasks.Task, file string) (string, error) {
	brought, err := store.Results().Of(ctx, t.ID)
	if err == nil && len(brought.Bundle) == 0 {
		err = errors.New("the queue has no bundle of it: " + whyNoBranch(t))
	}
	if err != nil {
		return "", err
	}
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = out.Write(brought.Bundle)
	if err := errors.Join(err, out.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file))
	}
	return fmt.Sprintf("wrote %s: git fetch %s %s takes it into a repository that has %s", file, file, t.Branch, t.Base), nil
}
