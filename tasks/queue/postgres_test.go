package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"jcode/tasks"
)

// Not parallel: the server starts again in the middle.
func TestTasksOfAPostgresAreDoneOnceThoughItStartsAgain(t *testing.T) {
	server := servers.Of(t)
	address, ctx := server.Database(t), t.Context()
	const workers, most = 3, 60
	var mu sync.Mutex
	runs, ended := map[int64]int{}, make(chan int64, 4*most)
	for n := range workers {
		store, err := tasks.Open(ctx, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		store.Patient(time.Minute)
		place := fmt.Sprint("place", n)
		store.At(place)
		q, err := Open(ctx, store)
		if err != nil {
			t.Fatal(err)
		}
		listening, cut := context.WithCancel(ctx)
		stop, err := q.Start(ctx, Work{
			Worker: fmt.Sprint("w", n), Slots: 4, Place: place, Wake: woken(listening, store), Alive: func(string) bool { return true },
			Hold: func(context.Context, tasks.Task) (string, time.Time, error) { return "", time.Time{}, nil },
			Run: func(ctx context.Context, task tasks.Task) {
				mu.Lock()
				runs[task.ID]++
				mu.Unlock()
				if err := store.Done(context.WithoutCancel(ctx), task.ID, task.Attempt, tasks.Result{}, ""); err != nil && !errors.Is(err, tasks.ErrOver) {
					t.Error(err)
				}
				ended <- task.ID
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cut()
			ending, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := stop(ending); err != nil {
				t.Error(err)
			}
		})
	}
	adder, err := tasks.Open(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = adder.Close() }()
	adder.Patient(time.Minute)
	adder.At("place1") // whose folder these tasks are in
	q, err := Open(ctx, adder)
	if err != nil {
		t.Fatal(err)
	}
	for n := range most {
		if n == most/2 {
			if err := errors.Join(server.Halt(), server.Start()); err != nil {
				t.Fatal(err)
			}
		}
		if n == most*3/4 {
			adder.At("") // anybody's
		}
		if _, err := adder.Add(ctx, q, tasks.New{Prompt: "work", Folder: t.TempDir()}); err != nil {
			t.Fatal(err)
		}
	}
	limit := time.After(2 * time.Minute)
	for {
		counts, err := adder.Counts(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if counts[tasks.Done] >= most {
			break
		}
		select {
		case <-ended:
		case <-time.After(500 * time.Millisecond):
		case <-limit:
			t.Fatalf("not all are done: %v", counts)
		}
	}
	all, err := adder.List(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, task := range all {
		if runs[task.ID] != 1 || task.Attempt != 1 || task.State != tasks.Done {
			t.Errorf("task %d ran %d times: %+v", task.ID, runs[task.ID], task)
		}
	}
	if len(all) != most {
		t.Errorf("%d tasks", len(all))
	}
}

// woken tells of tasks that came, and now and then without a reason, as a worker does.
func woken(ctx context.Context, store *tasks.Store) <-chan struct{} {
	wake, came := make(chan struct{}, 1), store.Fleet().Listen(ctx)
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-came:
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			select {
			case wake <- struct{}{}:
			default:
			}
		}
	}()
	return wake
}
