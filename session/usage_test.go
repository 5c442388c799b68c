package session_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"jcode/session"
)

func answer(id string, at time.Time, u session.Usage) session.Message {
	return session.Message{
		Session: id, Role: session.RoleAssistant, Created: at, Usage: &u, Parts: []session.Part{{Kind: session.PartText, Text: "answer"}},
	}
}

func TestSpendingIsSummedByDayModelAndSession(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, err := session.Open(ctx, filepath.Join(t.TempDir(), "db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	a, err := store.Create(ctx, session.Session{Model: "fallback", Cwd: "/a"})
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 3, 1, 23, 30, 0, 0, time.Local)
	for _, m := range []session.Message{
		answer(a.ID, day.AddDate(0, 0, -40), session.Usage{Model: "m", Input: 1000}),
		answer(a.ID, day, session.Usage{Model: "m", Input: 10, Output: 1, Cached: 5, Written: 2, Cost: 0.5}),
		answer(a.ID, day.Add(time.Minute), session.Usage{Model: "m", Input: 20, Output: 2, Cost: 0.25}),
		answer(a.ID, day.Add(time.Hour), session.Usage{Input: 3}),
	} {
		if _, err := store.History().Append(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	copied, err := store.Fork(ctx, a.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.History().Append(ctx, answer(copied.ID, day.Add(2*time.Hour), session.Usage{Model: "m", Input: 7})); err != nil {
		t.Fatal(err)
	}
	rows, err := store.Spending(ctx, day.AddDate(0, 0, -1))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %s %d %+v", r.Day, r.Model, r.Requests, r.Usage))
	}
	sum := func(u session.Usage) string { return fmt.Sprintf("%+v", u) }
	want := []string{
		"2026-03-01 m 2 " + sum(session.Usage{Input: 30, Output: 3, Cached: 5, Written: 2, Cost: 0.75}),
		"2026-03-02 fallback 1 " + sum(session.Usage{Input: 3}),
		"2026-03-02 m 1 " + sum(session.Usage{Input: 7}),
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}

func TestASessionCountsWhatItWroteToCachesAndWhetherItIsEstimated(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, err := session.Open(ctx, filepath.Join(t.TempDir(), "db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	a, err := store.Create(ctx, session.Session{Cwd: "/a"})
	if err != nil {
		t.Fatal(err)
	}
	child, err := store.Create(ctx, session.Session{Cwd: "/a", ParentID: a.ID, Kind: session.KindTask})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for i, c := range []struct {
		id        string
		used      session.Usage
		written   int64
		estimated bool
	}{
		{a.ID, session.Usage{Input: 10, Written: 4}, 4, false},
		{child.ID, session.Usage{Input: 10, Written: 3, Estimated: true}, 7, true},
		{a.ID, session.Usage{Input: 10, Written: 1}, 8, true},
	} {
		if _, err := store.History().Append(ctx, answer(c.id, now, c.used)); err != nil {
			t.Fatal(err)
		}
		if got, err := store.Get(ctx, a.ID); err != nil || got.WrittenTokens != c.written || got.Estimated != c.estimated {
			t.Errorf("after %d: %+v %v", i, got, err)
		}
	}
	copied, err := store.Fork(ctx, a.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := store.Get(ctx, copied.ID); err != nil || got.WrittenTokens != 0 || got.Estimated {
		t.Errorf("a fork counts its own: %+v %v", got, err)
	}
}

func BenchmarkSpendingOf100000Messages(b *testing.B) {
	ctx := b.Context()
	store, err := session.Open(ctx, filepath.Join(b.TempDir(), "db"), session.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	session.FillForBench(b, store, 100_000)
	for b.Loop() {
		rows, err := store.Spending(ctx, time.Unix(0, 0))
		if err != nil || len(rows) == 0 {
			b.Fatal(err, len(rows))
		}
	}
}
