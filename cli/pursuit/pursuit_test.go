package pursuit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"jcode/agent/event"
)

// talk is a conversation whose turns end when the test says so.
type talk struct {
	*event.Broker

	mu      sync.Mutex
	id      string
	busy    bool
	said    []string
	notices []string
	cost    float64
}

func newTalk(id string) *talk { return &talk{Broker: event.NewBroker(), id: id} }

func (c *talk) ID() string                   { return c.id }
func (c *talk) Private() bool                { return false }
func (c *talk) Queue() []event.Queued        { return nil }
func (c *talk) Observe() *event.Subscription { return c.Subscribe(true) }

func (c *talk) State() event.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return event.State{Busy: c.busy}
}

func (c *talk) Usage() event.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return event.Usage{Cost: c.cost}
}

func (c *talk) Prompt(p event.Prompt) string {
	c.mu.Lock()
	c.busy = true
	c.said = append(c.said, p.Text)
	c.mu.Unlock()
	c.Emit(event.TurnStart{Prompt: p.Text})
	return ""
}

func (c *talk) Notify(_ event.Level, format string, _ ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notices = append(c.notices, format)
}

// end ends the turn.
func (c *talk) end(ev event.TurnEnd) {
	c.mu.Lock()
	c.busy = false
	c.cost += 0.25
	c.mu.Unlock()
	c.Emit(ev)
	synctest.Wait()
}

func (c *talk) prompts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.said)
}

func done() event.TurnEnd { return event.TurnEnd{Reason: event.StopDone, Duration: time.Second} }

func pursued(t *testing.T, dir string, holds func(n int) (bool, error)) *Pursuit {
	n := 0
	p := New(Options{
		Dir:    dir,
		Expand: func(_ context.Context, said string) (event.Prompt, error) { return event.Prompt{Text: said}, nil },
		Holds: func(context.Context, Target) (bool, string, error) {
			n++
			ok, err := holds(n)
			return ok, "said", err
		},
		Passing: func(err error) bool { return err != nil && err.Error() == "passing" },
	})
	t.Cleanup(p.Close)
	return p
}

func never(int) (bool, error) { return false, nil }

func TestALoopSaysItsPromptBetweenTurnsUntilEsc(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c, p := newTalk("s"), pursued(t, dir, never)
		defer c.Close()
		defer p.Close()
		p.Open(c)
		if _, err := p.Loop(time.Second, "x"); err == nil {
			t.Error("a loop of a second")
		}
		if _, err := p.Loop(10*time.Minute, "look"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if c.prompts() != 1 || !strings.HasPrefix(p.Status(), "loop ") {
			t.Fatalf("%q %q", c.said, p.Status())
		}
		time.Sleep(25 * time.Minute) // the turn goes on
		if c.prompts() != 1 {
			t.Errorf("during a turn: %q", c.said)
		}
		c.end(done())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if c.prompts() != 2 {
			t.Errorf("after it: %q", c.said)
		}
		c.end(done())
		time.Sleep(5 * time.Minute)
		if c.prompts() != 2 {
			t.Errorf("too early: %q", c.said)
		}
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		if c.prompts() != 3 {
			t.Errorf("at its time: %q", c.said)
		}
		c.end(event.TurnEnd{Reason: event.StopInterrupted})
		time.Sleep(time.Hour)
		if c.prompts() != 3 || p.Status() != "" {
			t.Errorf("after esc: %q %q", c.said, p.Status())
		}
	})
}

func TestAGoalGoesOnUntilItHolds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c, p := newTalk("s"), pursued(t, dir, func(n int) (bool, error) { return n == 3, nil })
		defer c.Close()
		defer p.Close()
		p.Open(c)
		if err := p.Goal(Target{Text: "all green", MaxTurns: 20}); err != nil {
			t.Fatal(err)
		}
		c.Prompt(event.Prompt{Text: "first"})
		for n := 2; n <= 3; n++ {
			c.end(done())
			if c.prompts() != n {
				t.Fatalf("turn %d: %q", n, c.said)
			}
		}
		if p.Status() != "goal 2/20" {
			t.Errorf("status %q", p.Status())
		}
		c.end(done())
		if c.prompts() != 3 || p.Status() != "" || !strings.Contains(strings.Join(c.notices, "\n"), "%s") {
			t.Errorf("it holds: %q %q %q", c.said, p.Status(), c.notices)
		}
	})
}

func TestAGoalStopsAtItsLimitsAndAtWhatNoWaitingMends(t *testing.T) {
	t.Parallel()
	passes, lasts := errors.New("passing"), errors.New("no credit")
	for name, c := range map[string]struct {
		target  Target
		ends    []event.TurnEnd
		prompts int
		paused  string
	}{
		"turns":     {Target{Text: "x", MaxTurns: 2}, []event.TurnEnd{done(), done()}, 2, "its 2 turns"},
		"cost":      {Target{Text: "x", MaxTurns: 9, MaxCost: 0.5}, []event.TurnEnd{done(), done()}, 2, "its $0.50"},
		"esc":       {Target{Text: "x", MaxTurns: 9}, []event.TurnEnd{{Reason: event.StopInterrupted}}, 1, "interrupted"},
		"an error":  {Target{Text: "x", MaxTurns: 9}, []event.TurnEnd{{Reason: event.StopError, Error: "no credit", Err: lasts}}, 1, "no credit"},
		"a limit":   {Target{Text: "x", MaxTurns: 9}, []event.TurnEnd{{Reason: event.StopLimit, Error: "200 steps"}}, 1, "200 steps"},
		"it passes": {Target{Text: "x", MaxTurns: 9}, []event.TurnEnd{{Reason: event.StopError, Error: "passing", Err: passes}, done()}, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				conv, p := newTalk("s"), pursued(t, dir, never)
				defer conv.Close()
				defer p.Close()
				p.Open(conv)
				if err := p.Goal(c.target); err != nil {
					t.Fatal(err)
				}
				conv.Prompt(event.Prompt{Text: "first"})
				for _, ev := range c.ends {
					conv.end(ev)
					time.Sleep(2 * time.Minute)
					synctest.Wait()
				}
				_, page := p.Pages()
				if conv.prompts() != c.prompts || (c.paused != "") != strings.Contains(page, "paused: "+c.paused) {
					t.Errorf("%q\n%s", conv.said, page)
				}
			})
		})
	}
}

func TestWhatGoesOnIsBackOnResume(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c, p := newTalk(""), pursued(t, dir, never)
		p.Open(c)
		if err := p.Goal(Target{Text: "x", MaxTurns: 9}); err != nil {
			t.Fatal(err)
		}
		c.mu.Lock()
		c.id = "s" // with its first message
		c.mu.Unlock()
		c.Prompt(event.Prompt{Text: "first"})
		synctest.Wait()
		if _, err := p.Loop(time.Hour, "look"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p.Close() // the chat ends in the middle of a turn
		c.end(event.TurnEnd{Reason: event.StopInterrupted})
		c.Close()

		again, q := newTalk("s"), pursued(t, dir, never)
		defer again.Close()
		defer q.Close()
		q.Open(again)
		if s := q.Status(); !strings.HasPrefix(s, "goal 0/9 · loop ") || len(again.notices) != 2 {
			t.Fatalf("%q %q", s, again.notices)
		}
		other := newTalk("other")
		defer other.Close()
		q.Open(other)
		if s := q.Status(); s != "" {
			t.Errorf("in another session: %q", s)
		}
		q.Open(again)
		if _, err := q.StopGoal(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if err := Forget(dir, "s"); err != nil {
			t.Error(err)
		}
		if s, err := load(dir, "s"); err != nil || s.Loop != nil {
			t.Errorf("after it was deleted: %+v %v", s, err)
		}
	})
}
