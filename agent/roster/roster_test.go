package roster_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"jcode/agent/roster"
)

func start(t *testing.T, most int) (*roster.Roster[int], *[]roster.State) {
	var seen []roster.State
	return roster.New[int](most, func(s roster.State) { seen = append(seen, s) }), &seen
}

func enter(t *testing.T, r *roster.Roster[int], parent, name string) *roster.Member[int] {
	t.Helper()
	m, err := r.Enter(parent, name, "")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestNamesAreMadePlainAndUniqueInTheTree(t *testing.T) {
	t.Parallel()
	r, _ := start(t, 9)
	for _, c := range []struct{ parent, asked, want string }{
		{"root", "Fix The Bug!", "fix-the-bug"},
		{"root", "", "agent"},
		{"child", "fix the bug", "fix-the-bug-2"},
		{"child", "Ünïcode", "n-code"},
		{"root", "../../etc", "etc"},
	} {
		s, _ := r.Get(enter(t, r, c.parent, c.asked))
		if s.Name != c.want {
			t.Errorf("%q became %q, want %q", c.asked, s.Name, c.want)
		}
	}
}

func TestOneLimitHoldsForTheWholeTree(t *testing.T) {
	t.Parallel()
	r, _ := start(t, 2)
	a := enter(t, r, "root", "a")
	enter(t, r, "child", "b")
	if _, err := r.Enter("root", "c", ""); err == nil || !strings.Contains(err.Error(), "2 agents are working, which is the most at once") {
		t.Errorf("a third gives %v", err)
	}
	r.Change(a, func(s *roster.State, _ *int) { s.Status = roster.Done })
	enter(t, r, "root", "c")
}

func TestParentsSeeAndHearOfTheirOwnAgentsOnly(t *testing.T) {
	t.Parallel()
	r, seen := start(t, 9)
	a, b := enter(t, r, "root", "a"), enter(t, r, "child", "b")
	if _, err := r.Find("root", "b"); err == nil || !strings.Contains(err.Error(), `there is no agent "b"; there are: a`) {
		t.Errorf("error %v", err)
	}
	if _, err := r.Find("", "b"); err != nil {
		t.Error(err)
	}
	r.Announce(a, "a ended")
	r.Announce(b, "b ended")
	r.Change(b, func(s *roster.State, w *int) { s.Status, *w = roster.Done, 7 })
	if got := r.News("child"); got != "b ended" || r.News("child") != "" {
		t.Errorf("the child hears %q", got)
	}
	if !r.Unfinished("root") || r.Unfinished("child") {
		t.Error("who is unfinished is wrong")
	}
	r.Withdraw(a)
	if got := r.News("root"); got != "" {
		t.Errorf("the root hears %q of what was withdrawn", got)
	}
	if _, w := r.Get(b); w != 7 || len(*seen) != 1 || (*seen)[0].Name != "b" {
		t.Errorf("work %d, changes %+v", w, *seen)
	}
}

func TestWaitEndsWithTheLastOrTheFirst(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{true, false} {
		r, _ := start(t, 9)
		a, b := enter(t, r, "root", "a"), enter(t, r, "root", "b")
		done := make(chan struct{})
		go func() { defer close(done); r.Wait(t.Context(), "root", "", first) }()
		end := func(m *roster.Member[int], name string) {
			r.Announce(m, name)
			r.Change(m, func(s *roster.State, _ *int) { s.Status = roster.Done })
		}
		end(a, "a")
		if !first {
			select {
			case <-done:
				t.Fatal("the wait for all ended with the first")
			default:
			}
			end(b, "b")
		}
		<-done
	}
	r, _ := start(t, 9)
	enter(t, r, "root", "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Wait(ctx, "root", "", false)
}

func TestOutputIsKeptToABoundAndReadOnce(t *testing.T) {
	t.Parallel()
	r, _ := start(t, 9)
	a := enter(t, r, "root", "a")
	r.Wrote(a, "one")
	if got := r.Since(a); got != "one" {
		t.Errorf("first look %q", got)
	}
	if got := r.Since(a); got != "" {
		t.Errorf("second look %q", got)
	}
	for range 100 {
		r.Wrote(a, strings.Repeat("x", 1000))
	}
	r.Wrote(a, "last")
	if got := r.Output(a); len(got) > 64<<10 || !strings.HasSuffix(got, "last\n") {
		t.Errorf("%d bytes are kept, ending %q", len(got), got[max(0, len(got)-10):])
	}
	if got := r.Since(a); !strings.HasSuffix(got, "last") {
		t.Error("the look after a cut misses the end")
	}
}

func TestWhatOneSaysReachesAllThatWorkOnTheSameFiles(t *testing.T) {
	t.Parallel()
	r, _ := start(t, 9)
	for _, c := range []struct{ session, parent, dir string }{{"a", "root", ""}, {"b", "root", ""}, {"c", "a", ""}, {"apart", "root", "/worktree"}, {"done", "root", ""}} {
		m := enter(t, r, c.parent, c.session)
		r.Change(m, func(s *roster.State, _ *int) {
			s.Session, s.Dir = c.session, c.dir
			if c.session == "done" {
				s.Status = roster.Done
			}
		})
	}
	r.Tell("a", "I work on x")
	for session, want := range map[string]string{"root": "I work on x", "a": "", "b": "I work on x", "c": "I work on x", "apart": "", "done": ""} {
		unfinished := r.Unfinished(session)
		if got := r.News(session); got != want || unfinished != (session == "root" || session == "a") {
			t.Errorf("%s hears %q, unfinished %v", session, got, unfinished)
		}
	}
	r.Tell("apart", "I work on y")
	if got := r.News("root"); got != "" {
		t.Errorf("the root hears %q of another tree", got)
	}
}

// A conversation that waits may end as soon as it hears: by then its owner was told.
func TestWhoWaitsHearsOfAnEndAfterTheOwner(t *testing.T) {
	t.Parallel()
	telling, told := make(chan struct{}), make(chan struct{})
	r := roster.New[int](9, func(s roster.State) {
		if s.Status == roster.Done {
			close(telling)
			<-told
		}
	})
	m := enter(t, r, "root", "ann")
	go r.Change(m, func(s *roster.State, _ *int) { s.Status = roster.Done })
	<-telling
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		r.Wait(t.Context(), "root", "ann", false)
	}()
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	select {
	case <-waited:
		t.Error("who waits was told first")
	case <-soon.Done():
	}
	close(told)
	<-waited
}
