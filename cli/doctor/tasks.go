package doctorcli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jcode/cli/console"
	"jcode/cli/health"
	"jcode/internal/launch"
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

// Queue is the queue of tasks, and what a check of it asks of this machine.
type Queue struct {
	Where   string // the file, or the address of a Postgres
	Data    string // the data folder, with the clones of addresses
	Offline bool   // no host is asked
	Open    func(ctx context.Context) (*tasks.Store, error)
	// Workers names those that run.
	Workers func(ctx context.Context, store *tasks.Store) ([]string, error)
	// Place names where a task works, for people.
	Place func(t tasks.Task) string
	// Visit looks at the folder of a task. It is released when look has returned.
	Visit func(ctx context.Context, t tasks.Task, look func(TaskFolder) error) error
}

// TaskFolder is where a task works.
type TaskFolder struct {
	Git     launch.Git
	Root    string
	Answers func(ctx context.Context) (int, error) // stored answers about trust
	Inert   func() int                             // parts that wait for one
}

// Examine checks the queue, and the folders of the tasks that are not over.
func (q Queue) Examine(ctx context.Context, r *health.Report) {
	if !tasks.Exists(q.Where) {
		r.OK("tasks", "none yet: jcode tasks add makes %s", q.Where)
		return
	}
	store, err := q.Open(ctx)
	if err != nil {
		r.Fail("tasks", "", console.ExitUsage, "%v", err)
		return
	}
	defer func() { _ = store.Close() }() // it was only read
	state, err := store.Health(ctx)
	if err != nil {
		r.Fail("tasks", "", console.ExitUsage, "%v", err)
		return
	}
	if len(state.Faults) > 0 {
		r.Fail("tasks", "end the workers and move it away; the branches jcode/task-… are still in their repositories", console.ExitUsage, "%s is damaged: %s", store.Path(), strings.Join(state.Faults, "; "))
		return
	}
	taskClock(store, state, r)
	taskRights(store, r)
	counts, err := store.Counts(ctx)
	if err != nil {
		r.Fail("tasks", "", console.ExitUsage, "%v", err)
		return
	}
	workers, err := q.Workers(ctx, store)
	switch {
	case err != nil:
		r.Warn("tasks", "", "which workers run is not known: %v", err)
	case len(workers) == 0 && counts[tasks.Queued] > 0:
		r.Warn("tasks", "jcode worker begins one", "%s in %s, and no worker runs", text.Count(counts[tasks.Queued], "queued task"), store.Path())
	default:
		r.OK("tasks", "schema %d in %s, %s, %s", state.Schema, store.Path(), text.Count(counts[tasks.Queued], "queued task"), text.Count(len(workers), "worker"))
	}
	q.folders(ctx, store, r)
}

// taskClock compares clocks: by a wrong one schedules run at wrong times, and workers are taken for gone.
func taskClock(store *tasks.Store, state tasks.Health, r *health.Report) {
	ahead := time.Until(state.Clock).Round(time.Second)
	switch {
	case store.Shared() && ahead.Abs() > clocksApart:
		r.Warn("tasks", "set the clock of this machine, or that of the Postgres, by the network", "the clock of %s is %s from this machine's", store.Path(), ahead)
	case !store.Shared() && ahead > clocksApart:
		r.Warn("tasks", "set the clock of this machine: until then tasks and schedules wait longer", "the newest task was changed %s in the future", ahead)
	}
}

// taskRights says who else could write tasks, which is to run programs.
func taskRights(store *tasks.Store, r *health.Report) {
	if store.Shared() || !system.HasModes() {
		return
	}
	for _, path := range []string{store.Path(), store.Path() + "-wal", filepath.Dir(store.Path())} {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o022 != 0 {
			r.Warn("tasks", "chmod go-w "+path, "other users may write %s, and so have programs run as you", path)
		}
	}
}

// folders checks where tasks work that are not over: git, and what waits for trust there.
func (q Queue) folders(ctx context.Context, store *tasks.Store, r *health.Report) {
	list, err := store.List(ctx, 0, tasks.Queued, tasks.Working, tasks.Asks)
	if err != nil {
		r.Fail("tasks", "", console.ExitUsage, "%v", err)
		return
	}
	seen := map[string]bool{}
	for _, t := range list {
		if seen[q.Place(t)] || t.Repo == "" && !store.Here(t) { // the folder of another machine
			continue
		}
		if len(seen) == foldersOfTasks {
			r.Warn("tasks", "", "more than %d folders have tasks: the others were not looked at", foldersOfTasks)
			return
		}
		seen[q.Place(t)] = true
		if t.Repo != "" {
			q.address(ctx, t, r)
		} else {
			q.folder(ctx, t, r)
		}
	}
}

// address checks whether this machine reaches the repository of an address, and what of it is trusted here.
func (q Queue) address(ctx context.Context, t tasks.Task, r *health.Report) {
	clones := clone.In(q.Data)
	if !q.Offline {
		clones.Ask = addressLimit
		if _, err := clones.Commit(ctx, t.Repo, ""); err != nil {
			r.Warn("tasks", "it counts only where a worker takes this address", "task %d: %v", t.ID, err)
			return
		}
		r.OK("tasks", "git reads %s from here", t.Repo)
	}
	if _, err := os.Stat(clones.Root(t.Repo)); err != nil {
		r.OK("tasks", "%s was not cloned on this machine, and nothing of it is trusted: a worker that takes it clones it", t.Repo)
		return
	}
	err := q.Visit(ctx, t, func(f TaskFolder) error {
		answers, err := f.Answers(ctx)
		switch {
		case err != nil:
			return err
		case answers == 0:
			r.OK("tasks", "nothing of %s is trusted on this machine: jcode worker --trust %s shows what waits", t.Repo, t.Repo)
		default:
			r.OK("tasks", "%s of %s on this machine, each at its version", text.Count(answers, "answer")+" about trust", t.Repo)
		}
		return nil
	})
	if err != nil {
		r.Fail("tasks", "", console.ExitUsage, "%v", err)
	}
}

func (q Queue) folder(ctx context.Context, t tasks.Task, r *health.Report) {
	if _, err := os.Stat(t.Folder); err != nil {
		r.Fail("tasks", fmt.Sprintf("restore it, or jcode tasks cancel %d", t.ID), console.ExitUsage, "the folder of task %d can't be reached: %v", t.ID, err)
		return
	}
	err := q.Visit(ctx, t, func(f TaskFolder) error {
		if _, err := worktree.Head(ctx, f.Git, f.Root); err != nil {
			r.Fail("tasks", "a task needs a git repository with a commit", console.ExitUsage, "task %d in %s: %v", t.ID, t.Folder, err)
			return nil
		}
		if t.Base != "" && !worktree.Has(ctx, f.Git, f.Root, t.Base) {
			r.Fail("tasks", fmt.Sprintf("jcode tasks cancel %d, and add it again", t.ID), console.ExitUsage, "the commit %s that task %d begins with is gone from %s", t.Base, t.ID, t.Folder)
			return nil
		}
		if n := f.Inert(); n > 0 {
			r.Warn("tasks", "run jcode in that folder once and answer its question", "%s of %s for trust: tasks there work without", text.Count(n, "part")+map[bool]string{true: " waits", false: " wait"}[n == 1], t.Folder)
			return nil
		}
		r.OK("tasks", "git works in %s, and nothing there waits for trust", t.Folder)
		return nil
	})
	if err != nil {
		r.Fail("tasks", "", console.ExitUsage, "%v", err)
	}
}
