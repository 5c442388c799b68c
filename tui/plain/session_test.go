//go:build linux || darwin

package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/internal/testkit/eventually"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/front"
	"jcode/tui/transcript"
	"jcode/tui/tuitest"
)

// lines runs plain mode: the test writes lines to it and reads its output.
type lines struct {
	t    *testing.T
	fake *tuitest.Conversation
	in   *io.PipeWriter
	out  *lockedBuffer
	from int // the output read so far
	done chan error
}

func talk(t *testing.T, change func(o *front.Options)) *lines {
	t.Helper()
	return talkUntil(t, "> ", change)
}

// talkUntil starts plain mode and waits for a text.
func talkUntil(t *testing.T, text string, change func(o *front.Options)) *lines {
	t.Helper()
	f := tuitest.New()
	r, w := io.Pipe()
	l := &lines{t: t, fake: f, in: w, out: &lockedBuffer{}, done: make(chan error, 1)}
	opt := front.Options{Session: &front.Session{Conversation: f, Events: f}, Version: "1.0"}
	if change != nil {
		change(&opt)
	}
	go func() { l.done <- Run(context.Background(), opt, r, l.out) }()
	l.see(text)
	return l
}

// see waits for a text after the output read so far.
func (l *lines) see(want string) {
	l.t.Helper()
	behind := func() string { return l.out.String()[l.from:] }
	eventually.Within(l.t, tuitest.Limit, want, func() bool { return strings.Contains(behind(), want) }, behind)
	l.from += strings.Index(behind(), want) + len(want)
}

func (l *lines) write(s string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, s+"\n"); err != nil {
		l.t.Error(err)
	}
}

func (l *lines) quit() {
	l.t.Helper()
	l.write("/quit")
	select {
	case err := <-l.done:
		if err != nil {
			l.t.Error(err)
		}
	case <-time.After(tuitest.Limit):
		l.t.Fatalf("does not quit:\n%s", l.out.String())
	}
	if err := l.in.Close(); err != nil {
		l.t.Error(err)
	}
}

func TestThePlainFormShowsAnApprovedChangeOnceAndSumsUpTheTurn(t *testing.T) {
	t.Parallel()
	l := talk(t, nil)
	l.fake.OnPrompt = func(event.Prompt) {
		l.fake.Emit(event.CallStart{ID: "c", Name: "edit", Arguments: tuitest.JSON("path", "calc/sum.go")},
			event.ApprovalAsked{ID: "q", Question: tools.Question{CallID: "c", Tool: "edit", Title: "Edit calc/sum.go", Diff: tuitest.Diff}})
	}
	l.write("change it")
	l.see("Answer (number; words to the model may follow a no): ")
	l.write("1")
	l.fake.Emit(event.CallEnd{ID: "c", Name: "edit", Status: "done", Result: tools.Result{Display: tools.Display{Diff: tuitest.Diff, Path: "calc/sum.go", Added: 3, Removed: 2}}},
		event.Usage{Total: model.Usage{Input: 1500, Output: 20}}, event.TurnEnd{Reason: event.StopDone, Duration: 2 * time.Second})
	l.see("Tool edit done. +3 -2\n2s · calc/sum.go +3 -2 · 1.5k tokens · /undo\n> ")
	if n := strings.Count(l.out.String(), "+++ b/calc/sum.go"); n != 1 {
		t.Errorf("the change shows %d times:\n%s", n, l.out.String())
	}
	l.quit()
}

func TestThePlainFormTakesAWordWithANoAndStopsInAQuestion(t *testing.T) {
	t.Parallel()
	l := talk(t, nil)
	l.fake.OnPrompt = func(p event.Prompt) {
		l.fake.Emit(event.ApprovalAsked{ID: p.Text, Question: tuitest.Question()})
	}
	l.write("first")
	l.see("may follow a no): ")
	l.write("4 use the other tool")
	l.fake.Until(t, func() bool { a, ok := l.fake.Answered("first"); return ok && a.Word == "use the other tool" })
	l.fake.Emit(event.TurnEnd{Reason: event.StopDone})
	l.see("> ")
	l.write("second")
	l.see("may follow a no): ")
	l.fake.Busy(true)
	l.write("/stop")
	l.see("Warning: Interrupted. What was finished is kept.")
	l.fake.Emit(event.ApprovalClosed{ID: "second"}, event.Notice{Text: "closed"})
	l.see("closed")
	l.quit()
}

func TestThePlainFormHasPanelsTheShellChangesAndUndo(t *testing.T) {
	t.Parallel()
	l := talk(t, func(o *front.Options) {
		o.Shell = func(_ context.Context, line string, out func(string)) error {
			out("ran " + line)
			return errors.New("exit 3")
		}
		o.Panels = []command.Panel{{Name: "mcp", Help: "servers", Empty: "no server", Rows: func(context.Context) ([]command.Row, error) {
			return []command.Row{{Name: "db", State: "ready", Info: "3 tools"}, {Name: "web", State: "off"}}, nil
		}}}
		o.Models = func(context.Context) ([]command.Row, error) {
			return []command.Row{{ID: "a", Name: "a", Current: true}, {ID: "b", Name: "b"}}, nil
		}
		o.Changes = func(context.Context) ([]command.FileChange, error) {
			return []command.FileChange{{Path: "a.go", Diff: "the diff", Added: 1}}, nil
		}
		o.Undoable = func(context.Context) (command.Undoable, error) {
			return command.Undoable{Prompt: 1, Files: []command.FileChange{{Path: "a.go", Added: 1}}}, nil
		}
	})
	for _, step := range [][2]string{
		{"! echo", "ran echo\nFailed: exit 3\n> "},
		{"/mcp", "db, ready, 3 tools\nweb, off\n> "},
		{"/mcp web", "web, off\n> "},
		{"/mcp nothing", "no server\n> "},
		{"/model", "a (in force)\nb\n> "},
		{"/diff", "a.go +1 -0\nthe diff\n> "},
		{"/undo", "Question: put back what the last turn that changed files did? /redo reverses that.\n  a.go +1 -0\n  1: yes\n  2: no\nAnswer (number): "},
		{"2", "> "},
		{"/tmp/x is broken", "You: /tmp/x is broken"},
	} {
		l.write(step[0])
		l.see(step[1])
	}
	l.quit()
}

func TestThePlainFormKeepsAndShowsWhatStoodBesideTheMessages(t *testing.T) {
	t.Parallel()
	kept := make(chan session.Shown, 10)
	l := talk(t, func(o *front.Options) {
		o.Keep = func(_ context.Context, _ string, list []session.Shown) error {
			for _, s := range list {
				kept <- s
			}
			return nil
		}
		o.Session.History = []session.Message{
			{Seq: 1, Role: session.RoleUser, Parts: []session.Part{{Kind: session.PartText, Text: "hello"}}},
			{Seq: 2, Role: session.RoleAssistant, Calls: []session.Call{{ID: "1", Name: "exec", Arguments: `{"cmd":"ls nope"}`, Status: session.StatusDone, Display: []byte(`{"summary":"exit 2","exit_code":2}`)}}},
		}
		o.Session.Shown = []session.Shown{{After: 2, Kind: transcript.KindNotice, Data: []byte(`{"level":"error","text":"no key"}`)}}
	})
	for _, want := range []string{"You: hello\n", "Tool exec ls nope: failed. exit 2\n", "no key\n"} {
		if !strings.Contains(l.out.String(), want) {
			t.Errorf("no %q in\n%s", want, l.out.String())
		}
	}
	l.write("go on")
	l.see("You: go on")
	l.fake.Emit(event.TurnEnd{Reason: event.StopError, Error: "the key was refused"})
	select {
	case s := <-kept:
		if got := fmt.Sprint(s.Kind, " ", string(s.Data)); !strings.Contains(got, "the key was refused") {
			t.Errorf("kept %s", got)
		}
	case <-time.After(tuitest.Limit):
		t.Fatal("nothing is kept")
	}
	l.quit()
}

func TestThePlainFormSaysACallOfAToolThatIsNotThereInWords(t *testing.T) {
	t.Parallel()
	gone := tools.Result{Failed: true, Text: "unknown intent: nope. Nearest of the tools that exist: read"}
	const want = "there is no tool nope. Nearest of the tools that exist: read"
	var out strings.Builder
	lines := &shell{out: &out, calls: map[string]*transcript.Call{}}
	lines.event(event.CallStart{ID: "1", Name: "nope"})
	lines.event(event.CallEnd{ID: "1", Name: "nope", Result: gone})
	if !strings.Contains(out.String(), want) {
		t.Errorf("in the plain form:\n%s", out.String())
	}
}

func TestThePlainFormShowsTheEndOfWhatACommandFailedOf(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := &shell{out: &out, calls: map[string]*transcript.Call{}}
	p.event(event.CallStart{ID: "1", Name: "exec", Arguments: tuitest.JSON("cmd", "go test")})
	p.event(event.CallEnd{ID: "1", Name: "exec", Result: tools.Result{Text: strings.Repeat("ok\n", 20) + "FAIL here\nexit code 1", Display: tools.Display{Summary: "exit 1", ExitCode: tuitest.ExitCode(1)}}})
	want := "Tool exec failed. exit 1\n(15 more lines)\nok\nok\nok\nok\nok\nFAIL here\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("%q does not end in %q", out.String(), want)
	}
}
