package tasks

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/internal/testkit/postgrestest"
)

// servers is the Postgres of these tests.
var servers postgrestest.Servers

func TestMain(m *testing.M) { os.Exit(servers.Run(m)) }

// hand carries tasks nowhere, and numbers what it carried.
type hand struct {
	mu   sync.Mutex
	jobs int64
}

func (h *hand) Carry(context.Context, *sql.Tx, Carried) (int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.jobs++
	return h.jobs, nil
}

// onBoth runs a test with a file of tasks, and with a Postgres.
func onBoth(t *testing.T, test func(t *testing.T, s *Store, h *hand)) {
	t.Helper()
	t.Parallel()
	for name, where := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "tasks.db") },
		"postgres": func(t *testing.T) string { return servers.Of(t).Database(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, opened(t, where(t)), &hand{})
		})
	}
}

func opened(t *testing.T, where string) *Store {
	t.Helper()
	s, err := Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func folderTask(prompt string) New { return New{Prompt: prompt, Folder: os.TempDir()} }

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestOfTwoAttemptsOneGivesTheResult(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store, h *hand) {
		ctx := t.Context()
		must[[]Added](t)(s.Add(ctx, h, folderTask("x")))
		first := must[Task](t)(s.Claim(ctx, 1, 1, "a"))
		if _, err := s.Claim(ctx, 1, 1, "b"); !errors.Is(err, ErrOver) {
			t.Errorf("claimed twice: %v", err)
		}
		if got := must[[]int64](t)(s.Rescue(ctx, func(string) bool { return false })); len(got) != 1 {
			t.Fatalf("rescued: %v", got)
		}
		if err := s.Release(ctx, h); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Claim(ctx, 1, 1, "b"); !errors.Is(err, ErrOver) {
			t.Errorf("the old job brought it: %v", err)
		}
		second := must[Task](t)(s.Claim(ctx, 1, 2, "b"))
		for _, late := range []error{
			s.Done(ctx, 1, first.Attempt, Result{Commit: "old", Bundle: []byte("old")}, "old"), s.Fail(ctx, 1, first.Attempt, "old"), s.Again(ctx, 1, first.Attempt, "old"),
			s.Began(ctx, 1, first.Attempt, "s", "d", "b"), s.Stopped(ctx, 1, first.Attempt),
		} {
			if !errors.Is(late, ErrOver) {
				t.Errorf("the lost attempt changed something: %v", late)
			}
		}
		if err := s.Done(ctx, 1, second.Attempt, Result{Commit: "new", Bundle: []byte("new\x00"), Log: []byte("log")}, "new"); err != nil {
			t.Fatal(err)
		}
		if r := must[Result](t)(s.Results().Of(ctx, 1)); string(r.Bundle) != "new\x00" || string(r.Log) != "log" {
			t.Errorf("the bundle is %q with the log %q", r.Bundle, r.Log)
		}
		kept := func() int {
			if s.Shared() {
				return -1
			}
			return len(must[[]string](t)(filepath.Glob(filepath.Join(filepath.Dir(s.Path()), "bundles", "*"))))
		}
		if n := kept(); n != -1 && n != 1 {
			t.Errorf("%d files of bundles", n)
		}
		if err := s.Took(ctx, 1, false); err != nil {
			t.Fatal(err)
		}
		if r := must[Result](t)(s.Results().Of(ctx, 1)); len(r.Bundle) != 0 || string(r.Log) != "log" || kept() > 0 {
			t.Errorf("after it was taken: %q, %q, %d files", r.Bundle, r.Log, kept())
		}
		if err := s.Lost(ctx, 1, second.Attempt, "late"); !errors.Is(err, ErrOver) {
			t.Errorf("lost after its end: %v", err)
		}
		if v := must[Task](t)(s.Get(ctx, 1)); v.State != Done || v.Commit != "new" || v.Lost != 1 || v.Attempt != 2 {
			t.Errorf("%+v", v)
		}
	})
}

func TestAFailingTaskIsGivenUpAfterSomeAttempts(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store, h *hand) {
		ctx := t.Context()
		must[[]Added](t)(s.Add(ctx, h, folderTask("x")))
		for n := 1; ; n++ {
			v := must[Task](t)(s.Get(ctx, 1))
			if v.State == Failed {
				if n != mostFails+1 || !strings.Contains(v.Note, "3 attempts") {
					t.Errorf("after %d: %+v", n-1, v)
				}
				break
			}
			if v = must[Task](t)(s.Claim(ctx, 1, v.Job, "w")); v.Attempt != n {
				t.Fatalf("attempt %d: %+v", n, v)
			}
			if err := errors.Join(s.Again(ctx, 1, n, "broken"), s.Release(ctx, h)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestAScheduleQueuesOneTaskHoweverManyTimesWereMissed(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store, h *hand) {
		ctx := t.Context()
		now := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC) // a Monday
		s.now = func() time.Time { return now }
		must[Schedule](t)(s.AddSchedule(ctx, Schedule{Every: 24 * time.Hour, Task: folderTask("daily")}))
		weekly := must[Schedule](t)(s.AddSchedule(ctx, Schedule{Cron: "0 7 * * 1-5", Zone: "UTC", Task: folderTask("at seven")}))
		if want := now.Add(time.Hour); !weekly.Next.Equal(want) {
			t.Errorf("the first is at %s", weekly.Next)
		}
		if got := must[[]int64](t)(s.Due(ctx, h)); len(got) != 0 {
			t.Errorf("due at once: %v", got)
		}
		now = now.AddDate(0, 0, 10).Add(30 * time.Minute)
		if got := must[[]int64](t)(s.Due(ctx, h)); len(got) != 2 {
			t.Errorf("after ten days: %v", got)
		}
		if got := must[[]int64](t)(s.Due(ctx, h)); len(got) != 0 {
			t.Errorf("asked again: %v", got)
		}
		list := must[[]Schedule](t)(s.Schedules(ctx))
		if want := time.Date(2026, 3, 13, 6, 0, 0, 0, time.UTC); !list[0].Next.Equal(want) {
			t.Errorf("the rhythm is lost: %s", list[0].Next)
		}
		now = now.AddDate(0, 0, 1) // the tasks before wait still
		if got := must[[]int64](t)(s.Due(ctx, h)); len(got) != 0 {
			t.Errorf("they pile up: %v", got)
		}
		if list = must[[]Schedule](t)(s.Schedules(ctx)); !strings.Contains(list[0].Note, "not over") {
			t.Errorf("it does not say why: %q", list[0].Note)
		}
		for _, sc := range []Schedule{
			{Cron: "0 0 31 2 *", Zone: "UTC", Task: folderTask("never")}, {Cron: "x", Zone: "UTC", Task: folderTask("x")}, {Every: time.Second, Task: folderTask("x")}, {Cron: "0 7 * * *", Zone: "Nowhere/Land", Task: folderTask("x")},
		} {
			if _, err := s.AddSchedule(ctx, sc); err == nil {
				t.Errorf("%+v was accepted", sc)
			}
		}
		if err := s.RemoveSchedule(ctx, 1); err != nil {
			t.Error(err)
		}
		if err := s.RemoveSchedule(ctx, 1); err == nil {
			t.Error("removed twice")
		}
	})
}

func TestWhatTheDayCostsCountsWhatIsSetAside(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store, h *hand) {
		ctx := t.Context()
		n := folderTask("x")
		n.MaxCost = 3
		must[[]Added](t)(s.Add(ctx, h, n, n))
		must[Task](t)(s.Claim(ctx, 1, 1, "w"))
		must[bool](t)(s.Progress(ctx, 1, 1, 1, 0.5))
		if got := must[float64](t)(s.Spent(ctx, time.Now().Add(-time.Hour))); got != 3 {
			t.Errorf("set aside: %v", got)
		}
		if err := s.Done(ctx, 1, 1, Result{}, ""); err != nil {
			t.Fatal(err)
		}
		if got := must[float64](t)(s.Spent(ctx, time.Now().Add(-time.Hour))); got != 0.5 {
			t.Errorf("used: %v", got)
		}
	})
}

func TestANewerFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tasks.db")
	s := must[*Store](t)(Open(t.Context(), path))
	if _, err := s.db.ExecContext(t.Context(), "PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "newer jcode") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(path, []byte("no database, but long enough to be looked at as one, in every case: "+strings.Repeat("x", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(path + "-wal")
	if _, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("%v", err)
	}
}
