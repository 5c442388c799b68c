package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/tasks"
	"jcode/tasks/clone"
)

// errNotTaken says that a worker does not take the tasks of an address.
var errNotTaken = errors.New("no --repos of this worker means its address")

// checkRepos checks the patterns of --repos.
func checkRepos(patterns []string) error {
	for _, p := range patterns {
		if err := clone.CheckPattern(p); err != nil {
			return console.Usage("--repos: %w", err)
		}
	}
	return nil
}

// taskFolder returns the folder of a task: that of its repository, or its clone in a data folder.
func taskFolder(data string, t tasks.Task) string {
	if t.Repo == "" {
		return t.Folder
	}
	return clone.In(data).Root(t.Repo)
}

// shownPlace names where a task works.
func shownPlace(t tasks.Task) string {
	if t.Repo == "" {
		return t.Folder
	}
	return t.Repo
}

// folder returns the folder of the attempt's repository. That of an address is cloned first; then the base is known.
func (r *taskRun) folder(ctx context.Context, data string) (string, error) {
	t := &r.task
	if t.Repo == "" {
		return t.Folder, nil
	}
	if !clone.Match(r.repos, t.Repo) {
		return "", errNotTaken
	}
	fetching, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for pause(fetching, time.Second) {
			if over, _ := r.store.Cancelled(fetching, t.ID, t.Attempt); over && fetching.Err() == nil { // a fault says it later
				cancelled := causeCancelled
				r.cause.CompareAndSwap(nil, &cancelled)
				cancel()
			}
		}
	})
	root, base, err := clone.In(data).Prepare(fetching, t.Repo, t.Base)
	cancel()
	watch.Wait()
	if err == nil && base != t.Base {
		t.Base = base
		err = r.store.Based(ctx, t.ID, t.Attempt, base)
	}
	return root, err
}

// noFolder notes that the attempt has no folder to work in. What another machine refuses may pass.
func (r *taskRun) noFolder(ctx context.Context, err error) error {
	bg, t := context.WithoutCancel(ctx), r.task
	switch {
	case errors.Is(err, tasks.ErrOver):
		return err
	case r.ended() == causeCancelled:
		return r.store.Fail(bg, t.ID, t.Attempt, "cancelled")
	case ctx.Err() != nil || errors.Is(err, errNotTaken): // another worker may
		return r.store.Stopped(bg, t.ID, t.Attempt)
	case errors.Is(err, clone.ErrUnreachable):
		return r.store.Again(bg, t.ID, t.Attempt, err.Error())
	}
	return r.store.Fail(bg, t.ID, t.Attempt, err.Error())
}

// takes reports whether the worker takes the tasks of an address.
func (w *worker) takes(repo string) bool { return clone.Match(w.repos, repo) }

// notTakenWait is how long a task waits that came to a worker which does not take it: one that was parked there before.
const notTakenWait = time.Minute

// trust shows what the repository of an address would run at its base, and keeps the person's answer. Until the next
// change of exactly that, it counts for tasks of the address in this data folder.
func (c *workerCmd) trust(ctx context.Context, f *flags, std Streams) (err error) {
	if err := clone.Check(c.Address); err != nil {
		return console.Usage("--trust: %w", err)
	}
	found, err := findPaths(std)
	if err != nil {
		return err
	}
	root, commit, err := clone.In(found.Data).Prepare(ctx, c.Address, c.Base)
	if err != nil {
		return console.Usage("%w", err)
	}
	own := *f
	own.Print, own.Trust = true, false // nothing of it is watched
	home, err := newAppIn(ctx, &own, std, root)
	if err != nil {
		return err
	}
	defer home.close()
	name := "trust-" + uuid.NewString()[:8]
	tree, err := worktree.Add(ctx, worktree.Options{Git: home.git, Root: home.root, Dir: filepath.Join(besidesOf(home), name), Branch: branchPrefix + name, Commit: commit})
	if err != nil {
		return console.Usage("%w", err)
	}
	defer func() { err = errors.Join(err, tree.Remove(context.WithoutCancel(ctx))) }()
	b, err := besideOf(ctx, home, tree)
	if err != nil {
		return err
	}
	defer b.Close()
	b.app.startExtensions()
	q, pending, err := home.trust.Question(ctx, newUntrusted(b.app).Items())
	if err == nil && !pending {
		q, pending, err = home.trust.Again(ctx, newUntrusted(b.app).Items()) // what was refused before
	}
	switch {
	case err != nil:
		return err
	case !pending:
		fmt.Fprintf(std.Out, "nothing of %s waits for trust at %s\n", c.Address, commit)
		return nil
	}
	for _, line := range q.Lines() {
		fmt.Fprintln(std.Out, text.Visible(line))
	}
	if !console.Confirm(std.In, std.Out, fmt.Sprintf("Tasks of %s would use or run this, as it is at %s. Trust exactly that?", c.Address, commit)) {
		return console.Usage("nothing of %s is trusted: its tasks work without", c.Address)
	}
	if err := home.trust.Accept(ctx, q.All(), true); err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "trusted. If a commit changes any of it, that part waits for trust again\n")
	return nil
}
