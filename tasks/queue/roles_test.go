package queue

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"jcode/tasks"
)

// fleetBlock returns a block of the page on fleets.
func fleetBlock(t *testing.T, info string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```"+info+"\n")
	block, _, closed := strings.Cut(rest, "\n```\n")
	if !ok || !closed {
		t.Fatalf("the page has no block %q", info)
	}
	return block
}

func TestTheRolesOfAFleetCanDoWhatTheyShouldAndNoMore(t *testing.T) {
	t.Parallel()
	server, ctx := servers.Of(t), t.Context()
	owner := server.Database(t)
	open := func(address string) (*tasks.Store, *Queue) {
		t.Helper()
		s, err := tasks.Open(ctx, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		q, err := Open(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		return s, q
	}
	open(owner)
	server.Exec(t, owner, fleetBlock(t, "sql roles"))
	as := func(role string) (*tasks.Store, *Queue) {
		t.Helper()
		return open(strings.Replace(owner, "postgres@", role+"@", 1))
	}
	succeeds := func(what string, errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "may not do that") {
			t.Errorf("%s: %v", what, err)
		}
	}
	sleep := tasks.New{Prompt: "x", Folder: t.TempDir(), Key: "k"}

	looks, lq := as("jcode_looks")
	_, err := looks.List(ctx, 10)
	succeeds("jcode_looks lists", err)
	_, err = looks.Add(ctx, lq, sleep)
	refused("jcode_looks adds", err)
	_, err = looks.Cancel(ctx, 1)
	refused("jcode_looks cancels", err)

	adds, aq := as("jcode_adds")
	added, err := adds.Add(ctx, aq, sleep)
	if err != nil {
		t.Fatal(err)
	}
	id := added[0].ID
	after, err := adds.Add(ctx, aq, tasks.New{Prompt: "y", Folder: sleep.Folder, After: []int64{id}})
	succeeds("jcode_adds adds another", err)
	_, err = adds.AddSchedule(ctx, tasks.Schedule{Every: time.Hour, Task: sleep})
	succeeds("jcode_adds adds a schedule", err, adds.RemoveSchedule(ctx, 1))
	refused("jcode_adds pretends to be a worker", adds.Fleet().Beat(ctx, tasks.Worker{Name: "x"}))
	_, err = adds.Claim(ctx, id, 1, "x")
	refused("jcode_adds works", err)

	works, wq := as("jcode_works")
	succeeds("jcode_works is there", works.Fleet().Beat(ctx, tasks.Worker{Name: "w"}))
	asked, ran := make(chan int64, 1), make(chan int64, 4)
	listening, cut := context.WithCancel(ctx)
	defer cut()
	stop, err := wq.Start(ctx, Work{
		Worker: "w", Slots: 2, Wake: woken(listening, works), Alive: func(string) bool { return true },
		Hold: func(ctx context.Context, task tasks.Task) (string, time.Time, error) {
			_, err := works.Spent(ctx, time.Now())
			return "", time.Time{}, err
		},
		Run: func(ctx context.Context, task tasks.Task) {
			ctx = context.WithoutCancel(ctx)
			_, err := works.Progress(ctx, task.ID, task.Attempt, 1, 0)
			succeeds("jcode_works begins", works.Began(ctx, task.ID, task.Attempt, "s", "d", "b"), err)
			if task.ID == id && task.Attempt == 1 {
				q, err := works.Ask(ctx, 1, tasks.Question{Task: id, Kind: tasks.AsksCall})
				succeeds("jcode_works asks", err)
				_, err = works.Park(ctx, id, 1)
				succeeds("jcode_works parks", err)
				asked <- q
				return
			}
			succeeds("jcode_works is done", works.Done(ctx, task.ID, task.Attempt, tasks.Result{Commit: "c", Bundle: []byte("b")}, ""), works.Release(ctx, wq))
			ran <- task.ID
		},
		Failed: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	wait := func(c <-chan int64) (n int64) {
		t.Helper()
		select {
		case n = <-c:
		case <-time.After(time.Minute):
			t.Fatal("nothing comes")
		}
		return n
	}
	question := wait(asked)
	succeeds("jcode_adds answers", adds.Answer(ctx, aq, question, tasks.Yes, ""))
	if wait(ran) != id || wait(ran) != after[0].ID {
		t.Error("the order is another one")
	}
	_, err = works.Due(ctx, wq)
	succeeds("jcode_works looks for what is due", err, works.Fleet().Strand(ctx))
	succeeds("stop", stop(context.WithoutCancel(ctx)), works.Fleet().Left(ctx, "w"))
	succeeds("jcode_adds takes and forgets", adds.Took(ctx, id, false), adds.Remove(ctx, id))
	for _, text := range []string{"DROP TABLE tasks", "CREATE TABLE mine (x int)", "UPDATE task_schema SET version = 0", "ALTER TABLE tasks ADD x int"} {
		if _, err := works.DB().ExecContext(ctx, text); err == nil {
			t.Errorf("jcode_works: %s", text)
		}
	}

	_, rest, _ := strings.Cut(fleetBlock(t, "yaml kubernetes"), `query: "`)
	query, _, _ := strings.Cut(rest, "\"\n")
	var n int
	succeeds("the query of the scaler", looks.DB().QueryRowContext(ctx, query).Scan(&n))
}
