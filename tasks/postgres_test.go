package tasks

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestOfWorkersThatRaceOneHasTheTask(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store, h *hand) {
		ctx := t.Context()
		must[[]Added](t)(s.Add(ctx, h, folderTask("x")))
		var claimed, answered, released atomic.Int64
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				switch _, err := s.Claim(ctx, 1, 1, fmt.Sprint("w", n)); {
				case err == nil:
					claimed.Add(1)
				case !errors.Is(err, ErrOver):
					t.Error(err)
				}
			})
		}
		all.Wait()
		id := must[int64](t)(s.Ask(ctx, 1, Question{Task: 1, Kind: AsksCall, Tool: "exec"}))
		for range 8 { // parked and answered at once, in whichever order
			all.Go(func() {
				if _, err := s.Park(ctx, 1, 1); err != nil && !errors.Is(err, ErrOver) {
					t.Error(err)
				}
			})
			all.Go(func() {
				if s.Answer(ctx, h, id, Yes, "") == nil {
					answered.Add(1)
				}
			})
			all.Go(func() {
				if err := s.Release(ctx, h); err != nil {
					t.Error(err)
				}
				released.Add(1)
			})
		}
		all.Wait()
		if claimed.Load() != 1 || answered.Load() != 1 || released.Load() != 8 {
			t.Errorf("claimed %d times, answered %d times", claimed.Load(), answered.Load())
		}
		v := must[Task](t)(s.Get(ctx, 1))
		if parked := v.State == Queued && v.Continue && v.Job == h.jobs; !parked && (v.State != Asks || v.Worker == "") {
			t.Errorf("it waits for nobody: %+v", v)
		}
	})
}

func TestTheSameKeyIsQueuedOnceByWhoeverAdds(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store, h *hand) {
		n := folderTask("x")
		n.Key = "k"
		var added atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				got, err := s.Add(t.Context(), h, n)
				if err != nil {
					t.Error(err)
				} else if !got[0].There {
					added.Add(1)
				}
			})
		}
		all.Wait()
		if list := must[[]Task](t)(s.List(t.Context(), 0)); added.Load() != 1 || len(list) != 1 {
			t.Errorf("added %d times: %+v", added.Load(), list)
		}
	})
}

func TestWhatATaskComesAfterIsKept(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store, h *hand) {
		ctx := t.Context()
		must[[]Added](t)(s.Add(ctx, h, folderTask("a\x00 \xff"), folderTask("b")))
		n := folderTask("c")
		n.After = []int64{1, 2, 1}
		must[[]Added](t)(s.Add(ctx, h, n))
		v := must[Task](t)(s.Get(ctx, 3))
		if fmt.Sprint(v.After) != "[1 2]" || v.Job != 0 {
			t.Errorf("%+v", v)
		}
		for id := int64(1); id <= 2; id++ {
			must[Task](t)(s.Claim(ctx, id, must[Task](t)(s.Get(ctx, id)).Job, "w"))
			if err := errors.Join(s.Done(ctx, id, 1, Result{}, ""), s.Release(ctx, h)); err != nil {
				t.Fatal(err)
			}
		}
		if v := must[Task](t)(s.Get(ctx, 3)); v.Job == 0 {
			t.Errorf("it waits still: %+v", v)
		}
	})
}

// Not parallel: no other test may lose its connection.
func TestAPostgresThatStartsAgainIsWaitedFor(t *testing.T) {
	server := servers.Of(t)
	s, h := opened(t, server.Database(t)), &hand{}
	ctx := t.Context()
	s.Patient(time.Minute)
	must[[]Added](t)(s.Add(ctx, h, folderTask("x")))
	must[Task](t)(s.Claim(ctx, 1, 1, "w"))
	came := s.Fleet().Listen(ctx)
	if err := server.Halt(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Done(ctx, 1, 1, Result{Commit: "commit"}, "") }()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if v := must[Task](t)(s.Get(ctx, 1)); v.State != Done || v.Commit != "commit" {
		t.Errorf("%+v", v)
	}
	limit := time.After(time.Minute)
	for heard := false; !heard; { // whoever listens hears of new tasks again
		must[[]Added](t)(s.Add(ctx, h, folderTask("y")))
		select {
		case <-came:
			heard = true
		case <-time.After(200 * time.Millisecond):
		case <-limit:
			t.Fatal("nothing is heard after the restart")
		}
	}
}

func TestAWorkerIsGoneByTheClockOfThePostgres(t *testing.T) {
	t.Parallel()
	s := opened(t, servers.Of(t).Database(t))
	ctx := t.Context()
	s.now = func() time.Time { return time.Unix(1, 0) } // whatever the clock of this machine says
	for _, name := range []string{"a", "b"} {
		if err := s.Fleet().Beat(ctx, Worker{Name: name, Host: "h", Slots: 2}); err != nil {
			t.Fatal(err)
		}
	}
	if got := must[[]Worker](t)(s.Fleet().List(ctx)); len(got) != 2 || got[0] != (Worker{"a", "h", 2}) {
		t.Errorf("there: %+v", got)
	}
	if _, err := s.db.ExecContext(ctx, "UPDATE task_workers SET seen = seen - $1 WHERE name = 'a'", GoneAfter.Milliseconds()+1); err != nil {
		t.Fatal(err)
	}
	if got := must[[]Worker](t)(s.Fleet().List(ctx)); len(got) != 1 || got[0].Name != "b" {
		t.Errorf("after a was silent: %+v", got)
	}
	if err := s.Fleet().Left(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	if got := must[[]Worker](t)(s.Fleet().List(ctx)); len(got) != 0 {
		t.Errorf("after b left: %+v", got)
	}
}

func TestAPostgresThatCantBeUsedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	server := servers.Of(t)
	newer := server.Database(t)
	if err := must[*Store](t)(Open(t.Context(), newer)).Close(); err != nil {
		t.Fatal(err)
	}
	server.Exec(t, newer, "UPDATE task_schema SET version = 99; CREATE ROLE nobody LOGIN; REVOKE ALL ON SCHEMA public FROM PUBLIC")
	for where, want := range map[string]string{
		newer: "update this jcode",
		strings.Replace(newer, "postgres@", "postgres:hidden@", 1):            "PGPASSWORD",
		newer + "&password=hidden":                                            "PGPASSWORD",
		server.URL("postgres", "missing"):                                     "createdb",
		server.URL("stranger", "postgres"):                                    "check the user",
		"postgres://x@/x?host=/nowhere":                                       "can't be reached",
		strings.Replace(newer, "postgres@", "nobody@", 1):                     "may not do that",
		"postgres://x@127.0.0.1:1/x?sslmode=disable&connect_timeout=5&x=\x7f": "no address",
	} {
		s, err := Open(t.Context(), where)
		if err == nil {
			err = s.Close()
			t.Errorf("%s was opened (%v)", where, err)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", where, err)
		}
	}
}

// Whichever worker looks at a schedule: its tasks are for the data folder that has their folder.
func TestATaskOfAScheduleIsForTheDataFolderOfWhoAddedIt(t *testing.T) {
	t.Parallel()
	address := servers.Of(t).Database(t)
	adds, works, h := opened(t, address), opened(t, address), &hand{}
	ctx := t.Context()
	adds.At("here")
	works.At("elsewhere")
	must[Schedule](t)(adds.AddSchedule(ctx, Schedule{Every: time.Hour, Task: folderTask("x")}))
	works.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	if made := must[[]int64](t)(works.Due(ctx, h)); len(made) != 1 {
		t.Fatalf("due: %v", made)
	}
	var place string
	if err := works.db.DB.QueryRowContext(ctx, "SELECT place FROM tasks").Scan(&place); err != nil || place != "here" {
		t.Errorf("it is for %q, %v", place, err)
	}
	if must[bool](t)(works.Ready(ctx)) {
		t.Error("the other data folder takes it for its own")
	}
}
