//go:build linux || darwin

package plain

import (
	"context"
	"errors"
	"testing"

	"jcode/agent/event"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

// Lines that were meant for the model, and empty ones, answer nothing in plain mode.
func TestThePlainFormTakesNoSentenceForAnAnswer(t *testing.T) {
	t.Parallel()
	accidents := []string{"", "1 fix the tests", "yes please", "1.", "1st", "+1", "01", "0", "99"}
	type asked struct {
		event event.Event
		again string // what the question is repeated with
		end   string // what answers it
	}
	for name, q := range map[string]asked{
		"approval":    {event.ApprovalAsked{ID: "q", Question: tuitest.Question()}, ": ", "1"},
		"empty form":  {event.AskForm{ID: "q", Form: tools.Form{From: "MCP server s", Text: "Sign in?"}}, "Send it? (yes or no) ", "yes"},
		"number form": {event.AskForm{ID: "q", Form: tools.Form{From: "s", Fields: []tools.FormField{{Name: "n", Kind: tools.FieldChoice, Options: []string{"a", "b"}, Required: true}}}}, ": ", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := talk(t, nil)
			l.fake.Emit(q.event)
			l.see("Question: ")
			l.see(q.again)
			for _, line := range accidents {
				l.write(line)
				l.see(q.again)
				if tuitest.AnsweredBy(l.fake) {
					t.Fatalf("%q answered %+v %+v", line, l.fake.Answers, l.fake.Filled)
				}
			}
			l.write(q.end)
			if name == "number form" {
				l.see("Send it? (yes or no) ")
				l.write("")
				l.see("Send it? (yes or no) ")
				l.write("yes")
			}
			l.fake.Until(t, func() bool { return tuitest.AnsweredBy(l.fake) })
			l.quit()
		})
	}
}

func TestThePlainFormSendsASentenceToAQuestionAsItIs(t *testing.T) {
	t.Parallel()
	l := talk(t, nil)
	l.fake.Emit(event.AskPerson{ID: "q", Text: "Which?", Options: []string{"one", "two"}})
	l.see("Answer (number or text): ")
	l.write("")
	l.see("Answer: ")
	l.write("1 fix the tests")
	l.fake.Until(t, func() bool { return tuitest.AnsweredBy(l.fake) })
	if got := l.fake.Replies["q"]; got != "1 fix the tests" {
		t.Errorf("the model is told %q", got)
	}
	l.quit()
}

func TestThePlainFormAsksForTrustUntilANumberStandsAlone(t *testing.T) {
	t.Parallel()
	decided := make(chan bool, 1)
	l := talkUntil(t, "Answer (number): ", func(o *front.Options) {
		o.Trust = func(context.Context) *command.Trust {
			return &command.Trust{Folder: "/x", Decide: func(_ context.Context, yes bool) error { decided <- yes; return nil }}
		}
	})
	for _, line := range []string{"", "1 fix the tests", "2 fix them", "fix"} {
		l.write(line)
		l.see("Answer with a number from 1 to 2: ")
	}
	l.write("2")
	if <-decided {
		t.Error("the folder is trusted")
	}
	l.quit()
}

func TestThePlainFormIsLeftFromAQuestion(t *testing.T) {
	t.Parallel()
	l := talk(t, nil)
	l.fake.Emit(event.ApprovalAsked{ID: "q", Question: tuitest.Question()})
	l.see("may follow a no): ")
	l.quit()
	if a, ok := l.fake.Answered("q"); !ok || a.Scope != tools.AnswerNo {
		t.Errorf("answered %+v", a)
	}
}

func TestThePlainFormNamesAPromptThatWasNotSent(t *testing.T) {
	t.Parallel()
	l := talk(t, nil)
	l.fake.OnPrompt = func(p event.Prompt) {
		l.fake.Emit(event.TurnEnd{Reason: event.StopError, Error: "a hook refused it"}, event.Unsent{Prompt: p, Err: errors.New("a hook refused it")})
	}
	l.write("my password")
	l.see("Error: a hook refused it\n")
	l.see("Not sent: my password\n")
	l.quit()
}
