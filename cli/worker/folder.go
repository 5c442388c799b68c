package workercli

import (
	"context"
	"errors"
	"sync"
	"time"

	"jcode/tasks"
	"jcode/tasks/clone"
)

// errNotTaken says that a worker does not take the tasks of an address.
var errNotTaken = errors.New("no --repos of this worker means its address")

// folder returns the folder of the attempt's repository. That of an address is cloned first; then the base is known.
func (r *attempt) folder(ctx context.Context) (string, error) {
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
	root, base, err := clone.In(r.data).Prepare(fetching, t.Repo, t.Base)
	cancel()
	watch.Wait()
	if err == nil && base != t.Base {
		t.Base = base
		err = r.store.Based(ctx, t.ID, t.Attempt, base)
	}
	return root, err
}

// noFolder notes that the attempt has no folder to work in. What another machine refuses may pass.
func (r *attempt) noFolder(ctx context.Context, err error) error {
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
