package workercli

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	taskscli "jcode/cli/tasks"
	"jcode/tasks"
)

// life says which workers of a queue are there.
type life interface {
	// beat says that this worker is there, and reports whether others can be taken for gone.
	beat(ctx context.Context) (bool, error)
	// alive reports whether a worker is there.
	alive(name string) bool
	// end says that this worker is not there any more.
	end(ctx context.Context)
}

func (w *worker) lives(slots int) (life, error) {
	if !w.store.Shared() {
		return localLife{w.data, w.name}, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &sharedLife{store: w.store, own: tasks.Worker{Name: w.name, Host: host, Slots: slots}}, nil
}

// localLife is that of workers on one machine: each holds a lock.
type localLife struct{ data, own string }

func (l localLife) beat(context.Context) (bool, error) { return true, nil }
func (l localLife) alive(name string) bool {
	return name == l.own || taskscli.WorkerAlive(l.data, name)
}
func (l localLife) end(context.Context) {}

// sharedLife is that of workers anywhere: each says in the Postgres that it is there, by whose clock they are gone.
type sharedLife struct {
	store *tasks.Store
	own   tasks.Worker
	mu    sync.Mutex // guards what follows
	known []tasks.Worker
	// since is when this worker last began to reach the Postgres without a break, last when it did.
	since, last time.Time
}

// beat takes nobody for gone until this worker has reached the Postgres as long as that takes: after an outage all
// others seem to be gone.
func (l *sharedLife) beat(ctx context.Context) (bool, error) {
	began := time.Now()
	err := l.store.Fleet().Beat(ctx, l.own)
	var known []tasks.Worker
	if err == nil {
		known, err = l.store.Fleet().List(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if err != nil || now.Sub(began) > tasks.BeatEvery || now.Sub(l.last) > tasks.GoneAfter {
		l.since = now
	}
	if err != nil {
		return false, err
	}
	l.last, l.known = now, known
	return l.steady(now), nil
}

func (l *sharedLife) steady(now time.Time) bool { return now.Sub(l.since) > tasks.GoneAfter }

func (l *sharedLife) alive(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return name == l.own.Name || !l.steady(time.Now()) || slices.ContainsFunc(l.known, func(w tasks.Worker) bool { return w.Name == name })
}

func (l *sharedLife) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptEnd)
	defer cancel()
	_ = l.store.Fleet().Left(ctx, l.own.Name) // it is taken for gone soon, all the same
}

// changes tells that tasks may have come, until ctx ends.
func (w *worker) changes(ctx context.Context) <-chan struct{} {
	if w.store.Shared() {
		return w.store.Fleet().Listen(ctx)
	}
	return taskscli.Watch(ctx, w.data)
}

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
