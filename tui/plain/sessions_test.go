//go:build linux || darwin

package plain

import (
	"context"
	"slices"
	"testing"

	"jcode/agent/event"
	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

func TestThePlainFormGoesOverToAnotherSession(t *testing.T) {
	t.Parallel()
	fs := &tuitest.Sessions{}
	l := talk(t, func(o *front.Options) { o.Sessions = fs })
	l.write("/resume")
	l.see("  1: alpha, now, 0 messages\n  2: beta, now, 0 messages\n  3: stay here\nAnswer (number): ")
	l.write("3")
	l.see("> ")
	l.write("/resume zebra")
	l.see("  1: alpha")
	l.write("1")
	l.see("Session: a.\n")
	l.see("You: an old prompt\n")
	l.see("an **old** answer")
	l.see("> ")
	l.write("/new")
	l.see("Carry the last exchange over into the new session?")
	l.write("2")
	l.see("Session: new.\n")
	l.write("/session nightly")
	l.see("Session: nightly.\n")
	l.write("/fork 2")
	l.see("Fork up to the answer to which prompt?")
	l.write("/fork")
	l.see("Session: fork.\n")
	l.write("/resume nothing like it")
	l.see("No other session here.")
	if !slices.Equal(fs.Opened, []string{"a", "nightly"}) || !slices.Equal(fs.Carried, []bool{true}) || !slices.Equal(fs.Forked, []int64{0}) {
		t.Errorf("opened %v, carried %v, forked %v", fs.Opened, fs.Carried, fs.Forked)
	}
	l.quit()
}

func TestForkCountsPromptsInThePlainFormToo(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]int64{"/fork 1": 10, "/fork 2": 20, "/fork 3": 0, "/fork": 0} {
		fs := &tuitest.Sessions{}
		l := talk(t, func(o *front.Options) { o.Sessions = fs })
		l.fake.Emit(event.Rewound{From: 1}) // there is nothing yet
		for i, prompt := range []string{"the first", "the second", "the third", "taken back"} {
			l.fake.Emit(event.TurnStart{Prompt: prompt, Seq: int64(10*i + 1)}, event.TurnEnd{Reason: event.StopDone})
			l.see("You: " + prompt)
		}
		l.fake.Emit(event.Rewound{From: 31})
		l.fake.Emit(event.Notice{Text: "Rewound."})
		l.see("Rewound.")
		l.write("/fork 4")
		l.see("Fork up to the answer to which prompt? /fork NUMBER; /fork alone copies everything.\n1. the first\n2. the second\n3. the third\n")
		l.write(said)
		l.see("Session: fork.\n")
		l.quit()
		if !slices.Equal(fs.Forked, []int64{want}) {
			t.Errorf("%s: forked up to %v, want %d", said, fs.Forked, want)
		}
	}
}

func TestThePlainFormStaysInItsSessionWhileATurnRuns(t *testing.T) {
	t.Parallel()
	fs := &tuitest.Sessions{}
	l := talk(t, func(o *front.Options) { o.Sessions = fs })
	l.fake.OnPrompt = func(event.Prompt) {}
	l.write("work")
	l.write("/new")
	l.see("Error: not while something runs")
	l.fake.Emit(event.TurnEnd{Reason: event.StopDone})
	l.see("> ")
	if len(fs.Carried) > 0 {
		t.Error("a session was begun")
	}
	l.quit()
}

// The question about the folder comes first; the prompt of the command line follows it.
func TestThePlainFormAsksForTrustBeforeThePrompt(t *testing.T) {
	t.Parallel()
	decided := make(chan bool, 1)
	l := talkUntil(t, "Answer (number): ", func(o *front.Options) {
		o.Prompt = "hello"
		o.Trust = func(context.Context) *command.Trust {
			return &command.Trust{Folder: "/code/project", Items: []command.Row{{Name: "x", State: "lua tool", Info: "reads files"}}, Decide: func(_ context.Context, trusted bool) error {
				decided <- trusted
				return nil
			}}
		}
	})
	if sent := l.fake.Sent(); len(sent) > 0 {
		t.Errorf("%v went before the answer", sent)
	}
	l.write("perhaps")
	l.see("Answer with a number from 1 to 2: ")
	l.write("1")
	if !<-decided {
		t.Error("yes was taken for no")
	}
	l.fake.Until(t, func() bool { return slices.Equal(l.fake.Sent(), []string{"hello"}) })
	l.fake.Emit(event.TurnEnd{Reason: event.StopDone})
	l.see("> ")
	l.quit()
}
