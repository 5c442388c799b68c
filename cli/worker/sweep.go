package workercli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"jcode/session"
	"jcode/tasks"
	"jcode/tasks/clone"
)

// tidyTries is how often a worktree is tried to be removed, tidyWait the first wait.
const (
	tidyTries = 8
	tidyWait  = 100 * time.Millisecond
)

// tidy removes the worktree of an attempt in a clone, unless it is needed: what came out is in the queue.
func (r *attempt) tidy(ctx context.Context, home Home) error {
	if r.task.Repo == "" || r.task.Dir == "" || r.stays || r.ended() == causeParked {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	err := home.RemoveTree(ctx, r.task)
	for try := 1; err != nil && try < tidyTries; try++ { // git fails while another one adds a worktree to the same clone
		pause(ctx, time.Duration(try)*tidyWait)
		err = home.RemoveTree(ctx, r.task)
	}
	if err != nil {
		return err
	}
	return r.store.Results().Cleared(ctx, r.task.ID, r.task.Dir)
}

// sweepClones removes worktrees that attempts left in clones when they or their worker were killed, and of which no task
// knows any more.
func (w *worker) sweepClones(ctx context.Context) error {
	number := regexp.MustCompile(`^task-([0-9]+)(-[0-9]+)?$`)
	clones := clone.In(w.data)
	roots, err := clones.Roots()
	for _, root := range roots {
		found, fault := session.FindProject(root)
		if fault != nil {
			err = errors.Join(err, fault)
			continue
		}
		trees := w.trees(found.ID)
		list, _ := os.ReadDir(trees) // without the folder there is none
		for _, e := range list {
			dir := filepath.Join(trees, e.Name())
			if m := number.FindStringSubmatch(e.Name()); m != nil {
				id, _ := strconv.ParseInt(m[1], 10, 64)
				t, fault := w.store.Get(ctx, id)
				if fault == nil && t.Dir == dir || fault != nil && !errors.Is(fault, tasks.ErrNone) {
					continue
				}
				err = errors.Join(err, clones.Remove(ctx, root, dir, time.Minute))
			}
		}
	}
	return err
}
