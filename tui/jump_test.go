//go:build linux || darwin

package tui

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"jcode/agent/event"
	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

// The list of prompts goes to the one that is chosen.
func TestThePromptsAreAListToGoTo(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	for i := range 20 {
		r.fake.Emit(event.TurnStart{Prompt: "question " + strconv.Itoa(i), Seq: int64(i + 1)},
			event.AssistantMessage{Text: "answer\n\n" + strings.Repeat("line\n\n", 5)}, event.TurnEnd{Reason: event.StopDone})
	}
	r.see("question 19")
	r.Press("alt+p")
	r.see("Prompts of this conversation", "enter go there")
	r.Type("question 3")
	r.see("›   question 3")
	r.Press("enter")
	s := r.see("› question 3", "question 4", "more below")
	if !strings.Contains(s.Line(0), "question 3") {
		t.Errorf("the prompt is not at the top: %q", s.Line(0))
	}
}

// F3 begins a search, and goes on with it.
func TestAKeyFindsTextAndTheNextHit(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	for i := range 3 {
		r.fake.Emit(event.TurnStart{Prompt: "question " + strconv.Itoa(i), Seq: int64(i + 1)},
			event.AssistantMessage{Text: "the needle"}, event.TurnEnd{Reason: event.StopDone})
	}
	r.see("question 2")
	r.Type("words")
	r.Press("f3")
	r.see("the input holds text: alt+s puts it aside", "› words")
	r.Press("ctrl+u")
	r.Press("f3")
	r.see("› /find")
	r.Type("needle")
	r.Press("enter")
	r.see("3 of 3")
	r.Press("f3")
	r.see("2 of 3")
	r.Type("a draft")
	r.Press("f3")
	r.see("1 of 3", "› a draft")
}

func TestAltEChoosesTheEffort(t *testing.T) {
	t.Parallel()
	said := make(chan string, 1)
	set := command.Command{Name: "set", Run: func(_ context.Context, args string) (command.Outcome, error) {
		said <- args
		return command.Outcome{Notice: "reasoning_effort is now high"}, nil
	}}
	r := run(t, 80, 24, func(o *front.Options) {
		o.Commands.Sources = append(o.Commands.Sources, listOf{set})
	}).ready()
	r.Press("alt+e")
	r.see("How much test/model thinks", "● default", "high")
	r.Press("down", "down", "down", "down", "enter")
	r.see("reasoning_effort is now")
	if got := <-said; got != "reasoning_effort high" {
		t.Errorf("ran /set %s", got)
	}
	r.Type("/effort low")
	r.see("› /effort low")
	r.Press("enter")
	if got := <-said; got != "reasoning_effort low" {
		t.Errorf("ran /set %s", got)
	}
}

// What the model is told to think is beside its name.
func TestTheStatusLineShowsTheEffort(t *testing.T) {
	p, _ := still(t, 80, 24, nil)
	p.state.Effort = "high"
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "test/model high") {
		t.Errorf("the effort is not shown:\n%s", s)
	}
}

// listOf are commands from outside.
type listOf []command.Command

func (l listOf) List() []command.Command { return l }

// What a command changed in the checkout is seen when it has ended.
func TestTheBranchIsReadAgainAfterACommand(t *testing.T) {
	t.Parallel()
	var clean atomic.Bool
	undo := command.Command{Name: "put-back", Run: func(context.Context, string) (command.Outcome, error) {
		clean.Store(true)
		return command.Outcome{Notice: "done"}, nil
	}}
	r := run(t, 80, 24, func(o *front.Options) {
		o.Commands.Sources = append(o.Commands.Sources, listOf{undo})
		o.Branch = func(context.Context) string {
			if clean.Load() {
				return "main"
			}
			return "main*"
		}
	}).ready()
	r.see("(main*)")
	r.Type("/put-back")
	r.see("› /put-back")
	r.Press("enter")
	r.see("(main)")
}
