package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jcode/cli/console"
	"jcode/internal/system"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/tasks"
	"jcode/tasks/clone"
)

const (
	// foldersOfTasks bounds the folders of tasks that are looked at.
	foldersOfTasks = 10
	// clocksApart is how much the clock of a Postgres may differ from this machine's.
	clocksApart = 10 * time.Second
	// addressLimit is how long the host of an address may take to answer.
	addressLimit = 10 * time.Second
)

// tasks checks the queue of tasks, and the folders of those that are not over.
func (d *doctor) tasks(ctx context.Context) {
	where := whereTasks(d.paths)
	if !tasks.Exists(where) {
		d.OK("tasks", "none yet: jcode tasks add makes %s", where)
		return
	}
	store, err := openTasksIn(ctx, d.paths)
	if err != nil {
		d.Fail("tasks", "", console.ExitUsage, "%v", err)
		return
	}
	defer func() { _ = store.Close() }() // it was only read
	health, err := store.Health(ctx)
	if err != nil {
		d.Fail("tasks", "", console.ExitUsage, "%v", err)
		return
	}
	if len(health.Faults) > 0 {
		d.Fail("tasks", "end the workers and move it away; the branches jcode/task-… are still in their repositories", console.ExitUsage, "%s is damaged: %s", store.Path(), strings.Join(health.Faults, "; "))
		return
	}
	d.taskClock(store, health)
	d.taskRights(store)
	counts, err := store.Counts(ctx)
	if err != nil {
		d.Fail("tasks", "", console.ExitUsage, "%v", err)
		return
	}
	workers, err := workersOf(ctx, store)
	switch {
	case err != nil:
		d.Warn("tasks", "", "which workers run is not known: %v", err)
	case len(workers) == 0 && counts[tasks.Queued] > 0:
		d.Warn("tasks", "jcode worker begins one", "%s in %s, and no worker runs", text.Count(counts[tasks.Queued], "queued task"), store.Path())
	default:
		d.OK("tasks", "schema %d in %s, %s, %s", health.Schema, store.Path(), text.Count(counts[tasks.Queued], "queued task"), text.Count(len(workers), "worker"))
	}
	d.taskFolders(ctx, store)
}

// taskClock compares clocks: by a wrong one schedules run at wrong times, and workers are taken for gone.
func (d *doctor) taskClock(store *tasks.Store, health tasks.Health) {
	ahead := time.Until(health.Clock).Round(time.Second)
	switch {
	case store.Shared() && ahead.Abs() > clocksApart:
		d.Warn("tasks", "set the clock of this machine, or that of the Postgres, by the network", "the clock of %s is %s from this machine's", store.Path(), ahead)
	case !store.Shared() && ahead > clocksApart:
		d.Warn("tasks", "set the clock of this machine: until then tasks and schedules wait longer", "the newest task was changed %s in the future", ahead)
	}
}

// taskRights says who else could write tasks, which is to run programs.
func (d *doctor) taskRights(store *tasks.Store) {
	if store.Shared() || !system.HasModes() {
		return
	}
	for _, path := range []string{store.Path(), store.Path() + "-wal", filepath.Dir(store.Path())} {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o022 != 0 {
			d.Warn("tasks", "chmod go-w "+path, "other users may write %s, and so have programs run as you", path)
		}
	}
}

// taskFolders checks where tasks work that are not over: git, and what waits for trust there.
func (d *doctor) taskFolders(ctx context.Context, store *tasks.Store) {
	list, err := store.List(ctx, 0, tasks.Queued, tasks.Working, tasks.Asks)
	if err != nil {
		d.Fail("tasks", "", console.ExitUsage, "%v", err)
		return
	}
	seen := map[string]bool{}
	for _, t := range list {
		if seen[shownPlace(t)] || t.Repo == "" && !store.Here(t) { // the folder of another machine
			continue
		}
		if len(seen) == foldersOfTasks {
			d.Warn("tasks", "", "more than %d folders have tasks: the others were not looked at", foldersOfTasks)
			return
		}
		seen[shownPlace(t)] = true
		if t.Repo != "" {
			d.taskAddress(ctx, t)
		} else {
			d.taskFolder(ctx, t)
		}
	}
}

// taskAddress checks whether this machine reaches the repository of an address, and what of it is trusted here.
func (d *doctor) taskAddress(ctx context.Context, t tasks.Task) {
	clones := clone.In(d.paths.Data)
	if !d.offline {
		clones.Ask = addressLimit
		if _, err := clones.Commit(ctx, t.Repo, ""); err != nil {
			d.Warn("tasks", "it counts only where a worker takes this address", "task %d: %v", t.ID, err)
			return
		}
		d.OK("tasks", "git reads %s from here", t.Repo)
	}
	f := *d.flags
	if _, err := os.Stat(clones.Root(t.Repo)); err != nil {
		d.OK("tasks", "%s was not cloned on this machine, and nothing of it is trusted: a worker that takes it clones it", t.Repo)
		return
	}
	err := inTaskFolder(ctx, &f, d.std, t, func(a *app) error {
		rows, err := a.store.Trusts().List(ctx, a.project)
		switch {
		case err != nil:
			return err
		case len(rows) == 0:
			d.OK("tasks", "nothing of %s is trusted on this machine: jcode worker --trust %s shows what waits", t.Repo, t.Repo)
		default:
			d.OK("tasks", "%s of %s on this machine, each at its version", text.Count(len(rows), "answer")+" about trust", t.Repo)
		}
		return nil
	})
	if err != nil {
		d.Fail("tasks", "", console.ExitUsage, "%v", err)
	}
}

func (d *doctor) taskFolder(ctx context.Context, t tasks.Task) {
	if _, err := os.Stat(t.Folder); err != nil {
		d.Fail("tasks", fmt.Sprintf("restore it, or jcode tasks cancel %d", t.ID), console.ExitUsage, "the folder of task %d can't be reached: %v", t.ID, err)
		return
	}
	f := *d.flags
	err := inTaskFolder(ctx, &f, d.std, t, func(a *app) error {
		if _, err := worktree.Head(ctx, a.git, a.root); err != nil {
			d.Fail("tasks", "a task needs a git repository with a commit", console.ExitUsage, "task %d in %s: %v", t.ID, t.Folder, err)
			return nil
		}
		if t.Base != "" && !worktree.Has(ctx, a.git, a.root, t.Base) {
			d.Fail("tasks", fmt.Sprintf("jcode tasks cancel %d, and add it again", t.ID), console.ExitUsage, "the commit %s that task %d begins with is gone from %s", t.Base, t.ID, t.Folder)
			return nil
		}
		if n := len(newDormant(a).inert()); n > 0 {
			d.Warn("tasks", "run jcode in that folder once and answer its question", "%s of %s for trust: tasks there work without", text.Count(n, "part")+map[bool]string{true: " waits", false: " wait"}[n == 1], t.Folder)
			return nil
		}
		d.OK("tasks", "git works in %s, and nothing there waits for trust", t.Folder)
		return nil
	})
	if err != nil {
		d.Fail("tasks", "", console.ExitUsage, "%v", err)
	}
}
