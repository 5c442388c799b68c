package event_test

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"jcode/agent/event"
	"jcode/agent/roster"
	"jcode/tools"
)

// drain returns what a reader holds, with numbers.
func drain(t *testing.T, s *event.Subscription) (out []event.Numbered) {
	t.Helper()
	s.Close()
	for {
		ev, ok := s.NextNumbered(t.Context())
		if !ok {
			return out
		}
		out = append(out, ev)
	}
}

// TestNumbersHaveNoGapAndNoDouble: also where a slow reader gets deltas merged, and where it joins late.
func TestNumbersHaveNoGapAndNoDouble(t *testing.T) {
	t.Parallel()
	b := event.NewBroker()
	early := b.Subscribe(true)
	for range 3 {
		b.Emit(event.TurnStart{})
		for range 10 {
			b.Emit(event.TextDelta{Text: "x"})
		}
	}
	late, at := b.Join()
	b.Emit(event.TextDelta{Text: "y"})
	b.Emit(event.TurnEnd{})
	b.Close()
	check := func(name string, next uint64, got []event.Numbered) uint64 {
		for _, ev := range got {
			if ev.First != next || ev.Last < ev.First {
				t.Errorf("%s: %d–%d follows %d", name, ev.First, ev.Last, next-1)
			}
			next = ev.Last + 1
		}
		return next
	}
	end := check("early", 1, drain(t, early))
	if got := check("late", at.Last+1, drain(t, late)); got != end {
		t.Errorf("the late reader ends at %d, the early one at %d", got-1, end-1)
	}
}

// TestJoinTellsWhereTheConversationIs: what streams, what runs, what is asked; not what has ended.
func TestJoinTellsWhereTheConversationIs(t *testing.T) {
	t.Parallel()
	b := event.NewBroker()
	working, done := roster.State{Name: "a", Status: roster.Working}, roster.State{Name: "b", Status: roster.Done}
	for _, ev := range []event.Event{
		event.TurnStart{Seq: 1, Prompt: "first"},
		event.TurnEnd{},
		event.TurnStart{Seq: 5, Prompt: "second"},
		event.StepStart{Step: 1},
		event.TextDelta{Text: "void"},
		event.AnswerReset{},
		event.TextDelta{Text: "gone "},
		event.AssistantMessage{Seq: 6},
		event.CallStart{ID: "ended"},
		event.CallEnd{ID: "ended"},
		event.CallStart{ID: "runs"},
		event.ApprovalAsked{ID: "q1"},
		event.AskPerson{ID: "q2"},
		event.ApprovalClosed{ID: "q1"},
		event.AskForm{ID: "q3", Form: tools.Form{Text: "t"}},
		event.AgentChanged{Agent: working},
		event.AgentChanged{Agent: done},
		event.QueueChanged{Queued: []event.Queued{{ID: "p", Text: "later"}}},
		event.StepStart{Step: 2},
		event.ReasoningDelta{Text: "hm"},
		event.TextDelta{Text: "half an "},
		event.TextDelta{Text: "answer"},
		event.Notice{Text: "flushes the deltas"},
	} {
		b.Emit(ev)
	}
	_, at := b.Join()
	want := []event.Event{
		event.AgentChanged{Agent: working},
		event.TurnStart{Seq: 5, Prompt: "second"},
		event.StepStart{Step: 2},
		event.ReasoningDelta{Text: "hm"},
		event.TextDelta{Text: "half an answer"},
		event.CallStart{ID: "runs"},
		event.QueueChanged{Queued: []event.Queued{{ID: "p", Text: "later"}}},
		event.AskPerson{ID: "q2"},
		event.AskForm{ID: "q3", Form: tools.Form{Text: "t"}},
	}
	if !reflect.DeepEqual(at.Now, want) {
		t.Errorf("%#v\nwant %#v", at.Now, want)
	}
	if at.Seq != 6 {
		t.Errorf("the last message is %d", at.Seq)
	}
	b.Emit(event.TurnEnd{})
	if _, at := b.Join(); len(at.Now) != 4 { // the agent, the queue, the questions
		t.Errorf("at rest: %#v", at.Now)
	}
}

// TestAnObserverInTheMiddleTakesNoNotice from the terminal that comes later.
func TestAnObserverInTheMiddleTakesNoNotice(t *testing.T) {
	t.Parallel()
	b := event.NewBroker()
	b.Emit(event.Notice{Text: "early"})
	b.Join()
	s := b.Subscribe(false)
	b.Close()
	if got := drain(t, s); len(got) != 1 || got[0].First != 1 {
		t.Errorf("%v", got)
	}
}

// The last words of an answer reach a reader soon, also while the answer has not ended. Words that come fast are
// collected before them.
func TestTheLastWordsDoNotWait(t *testing.T) {
	t.Parallel()
	for _, gap := range []time.Duration{33 * time.Millisecond, 16 * time.Millisecond, 11 * time.Millisecond, 6 * time.Millisecond, time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			b := event.NewBroker()
			defer b.Close()
			s := b.Subscribe(false)
			const words = 500
			for range words {
				time.Sleep(gap)
				b.Emit(event.TextDelta{Text: "x"})
			}
			began, read := time.Now(), 0
			for read < words {
				ev, ok := s.Next(t.Context())
				if !ok {
					t.Fatal("no more events")
				}
				read += len(ev.(event.TextDelta).Text)
			}
			if late := time.Since(began); late > 10*time.Millisecond {
				t.Errorf("every %v: the last word came %v late", gap, late)
			}
		})
	}
}

// Words that come fast reach a reader at most thirty times a second.
func TestWordsThatComeFastAreCollected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := event.NewBroker()
		defer b.Close()
		s := b.Subscribe(false)
		events := 0
		read := make(chan struct{})
		go func() {
			defer close(read)
			for {
				if _, ok := s.Next(t.Context()); !ok {
					return
				}
				events++
			}
		}()
		for range 1500 {
			time.Sleep(time.Second / 150)
			b.Emit(event.TextDelta{Text: "x"})
		}
		time.Sleep(time.Second)
		s.Close()
		<-read
		if events < 250 || events > 310 {
			t.Errorf("%d events in 10 s", events)
		}
	})
}
