package queue

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/postgrestest"
	"jcode/tasks"
)

// servers is the Postgres of these tests.
var servers postgrestest.Servers

func TestMain(m *testing.M) {
	if os.Getenv(fleetAt) != "" { // started by a test
		os.Exit(fleetMember())
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"), goleak.Cleanup(func(code int) {
		servers.Stop()
		os.Exit(code)
	}))
}

// A client of River with nothing to do costs more than all the rest of a worker: there is none then, and it is there
// again when a task comes.
func TestAQueueWithoutTasksHasNoClient(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	store, err := tasks.Open(ctx, filepath.Join(dir, "tasks.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	q, err := Open(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	wake, ran := make(chan struct{}, 1), make(chan int64)
	stop, err := q.start(ctx, Work{
		Worker: "w", Slots: 1, Wake: wake, Alive: func(string) bool { return true },
		Hold: func(context.Context, tasks.Task) (string, time.Time, error) { return "", time.Time{}, nil },
		Run: func(ctx context.Context, task tasks.Task) {
			if err := store.Done(context.WithoutCancel(ctx), task.ID, task.Attempt, tasks.Result{}, ""); err != nil {
				t.Error(err)
			}
			ran <- task.ID
		},
		Failed: func(err error) { t.Error(err) },
	}, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	rows := func(table string) (n int) {
		if err := store.DB().QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if rows("river_queue") != 0 { // a client writes one as it starts
		t.Error("a client runs before there is a task")
	}
	for range 3 {
		added, err := store.Add(ctx, q, tasks.New{Prompt: "work", Folder: dir})
		if err != nil {
			t.Fatal(err)
		}
		wake <- struct{}{}
		if got := <-ran; got != added[0].ID {
			t.Errorf("task %d ran, want %d", got, added[0].ID)
		}
		eventually.True(t, "a client that stops resigns", func() bool { return rows("river_leader") == 0 })
	}
	if err := stop(ctx); err != nil {
		t.Error(err)
	}
}
