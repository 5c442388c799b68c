//go:build linux || darwin

package tui

import (
	"context"
	"sync"
	"testing"
	"time"

	"jcode/agent/event"
	"jcode/internal/testkit/eventually"
	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

// fakeHistory stores prompts and the draft.
type fakeHistory struct {
	mu    sync.Mutex
	added []string
	draft string
}

func (h *fakeHistory) Recent(context.Context) ([]string, error) {
	return []string{"newest", "older"}, nil
}

func (h *fakeHistory) Add(_ context.Context, s string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.added = append(h.added, s)
	return nil
}

func (h *fakeHistory) SetDraft(_ context.Context, s string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.draft = s
	return nil
}

// A command may open another session, which reads the draft. By then the command's own line must no longer be the
// draft.
func TestCommandRunsWhenItsDraftIsGone(t *testing.T) {
	t.Parallel()
	h := &fakeHistory{}
	left := make(chan string, 1)
	r := run(t, 80, 24, func(o *front.Options) {
		o.History = h
		o.Commands = command.Set{Sources: []command.Source{commands{{Name: "other", Run: func(context.Context, string) (command.Outcome, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			left <- h.draft
			return command.Outcome{}, nil
		}}}}}
	}).ready()
	r.Type("/other")
	draft := func() string {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.draft
	}
	eventually.True(t, "the command is kept as the draft", func() bool { return draft() == "/other" }, draft)
	r.Press("enter")
	select {
	case got := <-left:
		if got != "" {
			t.Errorf("when the command ran the draft was %q", got)
		}
	case <-time.After(tuitest.Limit):
		t.Fatal("the command did not run")
	}
}

func TestQueuedCommandsComeBackAsTheyWereTyped(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, nil)
	p.sender.giveBack([]event.Prompt{{Text: "all of a skill", Shown: "/greeting you"}, {Text: "what is this", Role: "explain"}, {Text: "plain"}})
	if got := p.in.Text(); got != "/greeting you\n/role explain what is this\nplain" {
		t.Errorf("given back: %q", got)
	}
}

func TestPromptChosenFromTheHistoryIsWrittenAndItsListCloses(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, func(o *front.Options) { o.History = &fakeHistory{} })
	settleCmd(p, p.loadHistory())
	press(p, "ctrl+r", "down", "enter")
	if got := p.in.Text(); got != "older" || p.stack.Front() != nil {
		t.Errorf("the input is %q, and %v is open", got, p.stack.Front())
	}
}

func TestUpPressedBeforeTheHistoryIsReadCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys, after []string
		want        string
	}{
		"one step":               {keys: []string{"up"}, want: "newest"},
		"two steps":              {keys: []string{"up", "up"}, want: "older"},
		"there and back":         {keys: []string{"up", "up", "down"}, want: "newest"},
		"more than there is":     {keys: []string{"up", "up", "up", "up"}, want: "older"},
		"the draft is kept":      {keys: []string{"a", "up"}, after: []string{"down"}, want: "a"},
		"written since":          {keys: []string{"up", "a"}, want: "a"},
		"own prompts come first": {keys: []string{"own", "enter", "up", "up"}, want: "newest"},
		"among own prompts":      {keys: []string{"own", "enter", "up"}, want: "own"},
		"newer than an own one":  {keys: []string{"own", "enter", "x", "up"}, after: []string{"down"}, want: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := still(t, 80, 24, func(o *front.Options) { o.History = &fakeHistory{} })
			load := p.loadHistory()
			press(p, c.keys...)
			settleCmd(p, load)
			press(p, c.after...)
			if got := p.in.Text(); got != c.want {
				t.Errorf("the input is %q, want %q", got, c.want)
			}
		})
	}
}

func TestDraftIsKeptWhenLeaving(t *testing.T) {
	t.Parallel()
	h := &fakeHistory{}
	r := run(t, 80, 24, func(o *front.Options) { o.History = h }).ready()
	r.Press("up", "up")
	r.see("› older")
	r.Press("down", "down")
	r.see("ask for something")
	r.Type("unfinished business")
	r.see("› unfinished business")
	r.stop()
	select {
	case err := <-r.done:
		r.done <- err
	case <-time.After(tuitest.Limit):
		t.Fatal("does not end")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draft != "unfinished business" {
		t.Errorf("draft %q", h.draft)
	}
}
