package taskscli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"jcode/internal/filelock"
	"jcode/internal/slicex"
	"jcode/internal/watch"
	"jcode/tasks"
)

// WorkerLock returns the lock file that a worker holds as long as it lives.
func WorkerLock(data, name string) string {
	return filepath.Join(data, "tasks", "worker-"+name+".lock")
}

// WorkerAlive reports whether a worker is.
func WorkerAlive(data, name string) bool {
	lock, err := filelock.Try(WorkerLock(data, name))
	if err != nil {
		return errors.Is(err, filelock.ErrHeld)
	}
	_ = lock.Remove() // it stays empty where that fails
	return false
}

// Workers returns the names of the workers that run.
func Workers(ctx context.Context, store *tasks.Store) (alive []string, err error) {
	if store.Shared() {
		list, err := store.Fleet().List(ctx)
		return slicex.Map(list, func(w tasks.Worker) string { return w.Name }), err
	}
	data := filepath.Dir(store.Path())
	found, err := filepath.Glob(WorkerLock(data, "*"))
	for _, path := range found {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "worker-"), ".lock")
		if WorkerAlive(data, name) {
			alive = append(alive, name)
		}
	}
	return alive, err
}

// Watch tells of changes of the file of tasks until ctx ends.
func Watch(ctx context.Context, data string) <-chan struct{} {
	changed := make(chan struct{}, 1)
	w := watch.New(ctx, []watch.Root{{Path: data, Match: func(path string) bool {
		return strings.HasPrefix(filepath.Base(path), file)
	}}}, watch.Options{Debounce: 50 * time.Millisecond, MaxDelay: 200 * time.Millisecond})
	go func() {
		defer w.Close()
		for range w.Events() {
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	}()
	return changed
}

// watchEvery is how often tasks in a Postgres are looked at for what changed.
const watchEvery = 2 * time.Second

// Changes tells that tasks may have changed, until ctx ends.
func Changes(ctx context.Context, store *tasks.Store, data string) <-chan struct{} {
	if !store.Shared() {
		return Watch(ctx, data)
	}
	changed := make(chan struct{})
	go func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			select {
			case changed <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return changed
}
