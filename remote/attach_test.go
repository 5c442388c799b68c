package remote_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/agent/event"
	"jcode/remote"
	"jcode/tools"
)

// TestAClientThatIsLostGoesOnWithoutGapOrDouble: killed at random points while a turn streams.
func TestAClientThatIsLostGoesOnWithoutGapOrDouble(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	first := s.connect("first")
	begun := first.attach(remote.Watch, nil)
	go func() {
		for i := range 2000 {
			s.conv.Emit(event.CallStart{ID: fmt.Sprint(i)})
			if i%100 == 0 {
				time.Sleep(time.Millisecond) // so that the client reads in between
			}
		}
		s.conv.Emit(event.TurnEnd{})
	}()
	next, calls := begun.Last+1, 0
	c := first
	for lost := 0; ; {
		l := <-c.lines
		if l.N != next {
			t.Fatalf("number %d follows %d", l.N, next-1)
		}
		next++
		if l.Type == "turn_end" {
			t.Logf("lost %d times", lost)
			break
		}
		calls++
		if rand.IntN(50) == 0 {
			lost++
			_ = c.nc.Close()
			last := l.N
			c = s.connect("again")
			if at := c.attach(remote.Watch, &last); !at.Resumed || at.Last != last || at.History != nil {
				t.Fatalf("%+v", at)
			}
		}
	}
	if calls != 2000 {
		t.Errorf("%d calls", calls)
	}
}

// TestWhoComesLaterIsToldWhereTheSessionIs: history, what streams and the question that waits.
func TestWhoComesLaterIsToldWhereTheSessionIs(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.conv.history = []event.Event{event.TurnStart{Seq: 1, Prompt: "hi"}, event.AssistantMessage{Seq: 2, Text: "hello"}}
	s.conv.Emit(event.TurnStart{Seq: 3, Prompt: "more"})
	s.conv.Emit(event.TextDelta{Text: "half an "})
	s.conv.Emit(event.CallStart{ID: "c"})
	s.conv.ask("q")
	c := s.connect("late")
	at := c.attach(remote.Control, nil)
	if len(at.History) != 2 || at.Resumed || at.Role != remote.Control || at.State.SessionID != "s1" {
		t.Errorf("%+v", at)
	}
	now := fmt.Sprintf("%s", at.Now)
	for _, want := range []string{`"prompt":"more"`, `"half an "`, `"tool_call"`, `"approval_asked"`, `"label":"always"`} {
		if !strings.Contains(now, want) {
			t.Errorf("no %s in %s", want, now)
		}
	}
	s.conv.Emit(event.TextDelta{Text: "answer"})
	s.conv.Emit(event.TurnEnd{})
	if got := c.until("turn_end"); len(got) != 2 || got[0].N != at.Last+1 || got[0].Delta != "answer" {
		t.Errorf("%+v after %d", got, at.Last)
	}
	var list []remote.Listed
	if err := c.Call(t.Context(), "sessions", nil, &list); err != nil || len(list) != 1 || list[0].Asks != 1 || list[0].SessionID != "s1" {
		t.Errorf("%+v %v", list, err)
	}
}

// TestTheFirstAnswerWins, all others read who gave it, and whoever watches gives none.
func TestTheFirstAnswerWins(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	phone, desk, watcher := s.connect("phone"), s.connect("desk"), s.connect("watcher")
	phone.attach(remote.Control, nil)
	desk.attach(remote.Control, nil)
	watcher.attach(remote.Watch, nil)
	s.conv.ask("q")
	yes := remote.Answer{Session: "s1", ID: "q", Option: 0}
	if got := watcher.refusal("answer", yes); !strings.Contains(got, "watches") {
		t.Error(got)
	}
	var wg sync.WaitGroup
	won := make(chan string, 2)
	for _, c := range []*client{phone, desk} {
		wg.Go(func() {
			if err := c.Call(t.Context(), "answer", yes, nil); err == nil {
				won <- "x"
			} else if !strings.Contains(err.Error(), "closed") {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d answers", len(won))
	}
	did := s.conv.done()
	if len(did) != 1 || !strings.HasSuffix(did[0], ": once") {
		t.Fatal(did)
	}
	who, _, _ := strings.Cut(did[0], ":")
	for _, c := range []*client{phone, desk, watcher} {
		lines := c.until("approval_closed")
		if closed := lines[len(lines)-1]; closed.By != who || closed.ID != "q" {
			t.Errorf("%+v, want %s", closed, who)
		}
	}
}

// TestNothingAboveTheOwnersSayOverTheLine: no answer that lasts, no mode above the owner's, no form of the terminal,
// nothing where nobody is asked.
func TestNothingAboveTheOwnersSayOverTheLine(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	c := s.connect("phone")
	c.attach(remote.Control, nil)
	s.conv.ask("q")
	if got := c.refusal("answer", remote.Answer{Session: "s1", ID: "q", Option: 1}); !strings.Contains(got, "outlasts") {
		t.Error(got)
	}
	for _, option := range []int{-1, 3} {
		c.refusal("answer", remote.Answer{Session: "s1", ID: "q", Option: option})
	}
	for _, mode := range []string{"yolo", "auto", "root", "YOLO"} {
		c.refusal("set", remote.Set{Session: "s1", Mode: mode})
	}
	for _, mode := range []string{"plan", "edits", "ask"} { // down, and up again to the owner's
		if err := c.Call(t.Context(), "set", remote.Set{Session: "s1", Mode: mode}, nil); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
	s.conv.SetMode(tools.ModePlan) // the owner's now
	c.until("state")
	if got := c.refusal("set", remote.Set{Session: "s1", Mode: "edits"}); !strings.Contains(got, "owner's") {
		t.Error(got)
	}
	s.conv.Emit(event.AskForm{ID: "f", Form: tools.Form{Person: true}})
	c.refusal("fill", remote.Fill{Session: "s1", ID: "f", Action: "accept"})
	s.conv.Emit(event.AskForm{ID: "g", Form: tools.Form{Fields: []tools.FormField{{Name: "n", Kind: tools.FieldNumber}, {Name: "l", Kind: tools.FieldChoices}}}})
	for _, values := range []map[string]any{{"n": "x"}, {"l": []any{1}}, {"other": 1}} {
		c.refusal("fill", remote.Fill{Session: "s1", ID: "g", Action: "accept", Values: values})
	}
	c.refusal("fill", remote.Fill{Session: "s1", ID: "g", Action: "steal"})
	if got := s.conv.done(); len(got) != 0 {
		t.Errorf("done: %q", got)
	}

	headless := newStage(t, func(o *remote.Offer) { o.WatchOnly = true })
	w := headless.connect("phone")
	if at := w.attach(remote.Control, nil); at.Role != remote.Watch {
		t.Errorf("role %s of a headless run", at.Role)
	}
	headless.conv.ask("q")
	for method, params := range map[string]any{
		"answer": remote.Answer{Session: "s1", ID: "q"}, "prompt": remote.Prompt{Session: "s1", Text: "x"}, "interrupt": remote.Of{Session: "s1"},
		"unqueue": remote.Queued{Session: "s1"}, "set": remote.Set{Session: "s1", Mode: "plan"}, "reply": remote.Reply{Session: "s1", ID: "q"},
	} {
		w.refusal(method, params)
	}
	if got := headless.conv.done(); len(got) != 0 {
		t.Errorf("done: %q", got)
	}
}
