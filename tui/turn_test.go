//go:build linux || darwin

package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/front"
	"jcode/tui/transcript"
	"jcode/tui/tuitest"
)

// called emits the events of a finished call.
func called(p *program, id, name string, args []string, res tools.Result) {
	feed(p, event.CallStart{ID: id, Name: name, Arguments: tuitest.JSON(args...), At: clock}, event.CallEnd{ID: id, Name: name, Status: "done", Result: res})
}

func TestACommandIsMarkedByItsExitCode(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, nil)
	feed(p, event.TurnStart{Prompt: "x", At: clock})
	called(p, "1", "exec", []string{"cmd", "ls nope"}, tools.Result{Text: "one\ntwo\nls: cannot access 'nope'\nexit code 2", Display: tools.Display{Summary: "exit 2", ExitCode: tuitest.ExitCode(2)}})
	called(p, "2", "exec", []string{"cmd", "ls"}, tools.Result{Text: "a.txt", Display: tools.Display{Summary: "exit 0", ExitCode: tuitest.ExitCode(0)}})
	s := tuitest.Stripped(p.frameText())
	for _, want := range []string{"✗ exec ls nope  exit 2", "cannot access 'nope'", "✓ exec ls  exit 0"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q:\n%s", want, s)
		}
	}
	if strings.Contains(s, "exit code 2") {
		t.Errorf("the code stands twice:\n%s", s)
	}
	p.tr = transcript.New()
	p.tr.AddHistory([]session.Message{{Role: session.RoleAssistant, Calls: []session.Call{{ID: "1", Name: "exec", Arguments: `{"cmd":"ls nope"}`, Status: session.StatusDone, Result: "gone", Display: []byte(`{"summary":"exit 2","exit_code":2}`)}}}}, nil)
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "✗ exec ls nope  exit 2") {
		t.Errorf("resumed:\n%s", s)
	}
}

func TestATurnOfAResumedSessionCountsItsOwnTokensOnly(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 100, 24, func(o *front.Options) {
		o.Session.Usage = event.Usage{Total: model.Usage{Input: 40000, Output: 900}, Cost: 1.5, Priced: true}
	})
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "$1.50") {
		t.Errorf("what the session cost so far is not shown:\n%s", s)
	}
	feed(p, event.TurnStart{Prompt: "go on", At: clock}, event.Usage{Total: model.Usage{Input: 43000, Output: 950}, Cost: 1.6, Priced: true},
		event.TurnEnd{Reason: event.StopDone, Duration: time.Second})
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "1s · 3.0k tokens · $0.10") {
		t.Errorf("the turn's line:\n%s", s)
	}
}

func TestEachTurnEndsWithWhatItCameTo(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 100, 24, nil)
	feed(p, event.Usage{Total: model.Usage{Input: 1000, Output: 100}, Cost: 0.01, Priced: true},
		event.TurnStart{Prompt: "change it", At: clock})
	for i, f := range []string{"a.go", "b.go", "a.go"} {
		called(p, fmt.Sprint(i), "edit", []string{"path", f}, tools.Result{Display: tools.Display{Diff: tuitest.Diff, Path: f, Added: 2, Removed: 1}})
	}
	feed(p, event.AssistantMessage{Text: "done"}, event.Usage{Total: model.Usage{Input: 13000, Output: 900}, Cost: 0.0412, Priced: true},
		event.TurnEnd{Reason: event.StopDone, Duration: 12 * time.Second})
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "12s · a.go +4 -2 · b.go +2 -1 · 12.8k tokens · $0.03 · /undo") {
		t.Errorf("the turn's line:\n%s", s)
	}
	p.route(tea.WindowSizeMsg{Width: 40, Height: 24})
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "/undo") || !strings.Contains(s, "12s · a.go +4 -2") {
		t.Errorf("in 40 columns:\n%s", s)
	}
	feed(p, event.TurnStart{Prompt: "talk", At: clock}, event.AssistantMessage{Text: "hi"},
		event.Usage{Total: model.Usage{Input: 14000, Output: 910}, Priced: false}, event.TurnEnd{Reason: event.StopDone, Duration: time.Second})
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "1s · 1.0k tokens") || strings.Count(s, "/undo") != 1 {
		t.Errorf("a turn that only talked:\n%s", s)
	}
}

func TestReadsAndSearchesShareARowThatGrows(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 100, 30, nil)
	feed(p, event.TurnStart{Prompt: "look", At: clock})
	for i := range 20 {
		called(p, fmt.Sprint("r", i), "read", []string{"path", fmt.Sprintf("src/f%d.go", i)}, tools.Result{Text: "x"})
		feed(p, event.ReasoningDelta{Text: "hm"}, event.AssistantMessage{Reasoning: "hm"})
	}
	called(p, "g", "grep", []string{"pattern", "Fetch", "path", "."}, tools.Result{Text: "2 matches"})
	s := tuitest.Stripped(p.frameText())
	if !strings.Contains(s, "✓ read 20 files in src  f0.go … f19.go · grep Fetch in .") || !strings.Contains(s, "(ctrl+o)") {
		t.Errorf("the row:\n%s", s)
	}
	if n := strings.Count(s, "read"); n != 1 {
		t.Errorf("%d rows of reads:\n%s", n, s)
	}
	called(p, "e", "exec", []string{"cmd", "make"}, tools.Result{Text: "ok"})
	called(p, "r", "read", []string{"path", "after.go"}, tools.Result{Text: "x"})
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "✓ read after.go") {
		t.Errorf("a look behind a command is not its own:\n%s", s)
	}
	p.tr.Items[2].Toggle()
	p.tr.ToTop()
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "read src/f0.go") || !strings.Contains(s, "read src/f1.go") {
		t.Errorf("unfolded:\n%s", s)
	}
}

func TestALookThatFailedShows(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, nil)
	feed(p, event.TurnStart{Prompt: "look", At: clock})
	called(p, "1", "read", []string{"path", "a.go"}, tools.Result{Text: "x"})
	feed(p, event.CallStart{ID: "2", Name: "read", Arguments: tuitest.JSON("path", "gone.go"), At: clock})
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "read a.go, gone.go") || strings.Contains(s, "✓ read") {
		t.Errorf("while it runs:\n%s", s)
	}
	feed(p, event.CallEnd{ID: "2", Name: "read", Status: "failed", Result: tools.Result{Text: "gone.go does not exist", Failed: true}})
	called(p, "3", "ls", []string{"path", "src"}, tools.Result{Text: "x"})
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "✗ read gone.go") || !strings.Contains(s, "gone.go does not exist") || !strings.Contains(s, "✓ read a.go, gone.go · ls src") {
		t.Errorf("what failed is hidden:\n%s", s)
	}
}

func TestEachFoldNamesItsKey(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 60, nil)
	feed(p, event.TurnStart{Prompt: strings.Repeat("line\n", 39) + "end", At: clock})
	called(p, "1", "exec", []string{"cmd", "make"}, tools.Result{Text: strings.Repeat("out\n", 40)})
	called(p, "2", "edit", []string{"path", "a"}, tools.Result{Display: tools.Display{Diff: newFileDiff("a", strings.Repeat("x\n", 60)), Path: "a", Added: 60}})
	feed(p, event.ReasoningDelta{Text: "hm"}, event.AssistantMessage{Text: "x"}, event.QueueChanged{Queued: []event.Queued{{Text: "later"}}})
	p.in.Paste(strings.Repeat("pasted\n", 30))
	s := tuitest.Stripped(p.frameText())
	for _, want := range []string{"… 28 more lines (ctrl+o)", "… 35 more lines (ctrl+o)", "60 changed lines in all (ctrl+o)", "✻ Thought (ctrl+o)", "⧗ later  (alt+q takes back)", "[Pasted text #1: 30 lines · ctrl+x]"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q:\n%s", want, s)
		}
	}
}

func TestEscTwiceOnAnEmptyInputGoesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, _ := still(t, 80, 24, func(o *front.Options) {
			o.Commands.Sources = []command.Source{undoing{}}
		})
		esc := tea.KeyPressMsg{Code: tea.KeyEscape}
		p.route(esc)
		p.route(esc)
		if p.stack.Front() != nil {
			t.Error("there is nothing to go back to")
		}
		feed(p, event.TurnStart{Prompt: "one", Seq: 3, At: clock}, event.TurnEnd{Reason: event.StopDone})
		p.route(esc)
		if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "esc again goes back") {
			t.Errorf("the first says nothing:\n%s", s)
		}
		time.Sleep(escapeTwice)
		p.route(esc)
		if p.stack.Front() != nil {
			t.Error("the second came too late to be meant as one")
		}
		time.Sleep(escapeTwice - time.Millisecond)
		p.route(esc)
		if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "Go back to before which prompt?") {
			t.Errorf("the second does nothing:\n%s", s)
		}
	})
}

type undoing struct{ undid func() }

func (u undoing) List() []command.Command {
	return []command.Command{{Name: "rewind"}, {Name: "undo", Run: func(context.Context, string) (command.Outcome, error) {
		u.undid()
		return command.Outcome{Notice: "Undid it."}, nil
	}}}
}

func TestUndoNamesTheTurnAndItsFilesFirst(t *testing.T) {
	t.Parallel()
	undone, none := 0, false
	p, _ := still(t, 80, 24, func(o *front.Options) {
		o.Commands.Sources = []command.Source{undoing{func() { undone++ }}}
		o.Undoable = func(context.Context) (command.Undoable, error) {
			if none {
				return command.Undoable{}, errors.New("nothing to undo")
			}
			return command.Undoable{Prompt: 3, Files: []command.FileChange{{Path: "src/a.go", Added: 2, Removed: 1}, {Path: "b.md"}}}, nil
		}
	})
	feed(p, event.TurnStart{Prompt: "write the file", Seq: 3, At: clock}, event.TurnEnd{Reason: event.StopDone},
		event.TurnStart{Prompt: "talk", Seq: 9, At: clock}, event.TurnEnd{Reason: event.StopDone})
	settleCmd(p, p.slashes.undo())
	s := tuitest.Stripped(p.frameText())
	for _, want := range []string{"turn #1 (write the file)", "src/a.go +2 -1", "b.md", "/redo"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q:\n%s", want, s)
		}
	}
	if undone != 0 {
		t.Fatal("it was done before it was named")
	}
	settleCmd(p, p.route(tea.KeyPressMsg{Code: tea.KeyEnter}))
	if undone != 1 {
		t.Error("yes does nothing")
	}
	settleCmd(p, p.slashes.undo())
	p.route(tea.KeyPressMsg{Code: tea.KeyDown})
	settleCmd(p, p.route(tea.KeyPressMsg{Code: tea.KeyEnter}))
	none = true
	settleCmd(p, p.slashes.undo())
	if s := tuitest.Stripped(p.frameText()); undone != 1 || !strings.Contains(s, "nothing to undo") {
		t.Errorf("undone %d times:\n%s", undone, s)
	}
}

func TestAResumedSessionShowsAllThatWasSeen(t *testing.T) {
	t.Parallel()
	var kept []session.Shown
	p, f := still(t, 80, 40, func(o *front.Options) {
		o.Keep = func(_ context.Context, id string, list []session.Shown) error {
			if id != "s1" {
				t.Errorf("kept for %q", id)
			}
			for _, v := range list {
				v.After = int64(len(kept)/2) + 1
				kept = append(kept, v)
			}
			return nil
		}
		o.Shell = func(_ context.Context, _ string, out func(string)) error { return errors.New("exit 3") }
	})
	f.OnPrompt = nil
	write := func() { settleCmd(p, p.record.changed(p)) }
	p.Say(event.LevelInfo, "loaded 3 skills") // shown at each start
	p.in.SetText("hello")
	settleCmd(p, p.submit())
	feed(p, event.TurnStart{Prompt: "hello", Seq: 1, At: clock}, event.TurnEnd{Reason: event.StopError, Error: "401: the key was refused", Duration: time.Second})
	write()
	p.in.SetText("! false")
	settleCmd(p, p.submit())
	feed(p, event.Notice{Level: event.LevelInfo, Text: "Undid turn #1: a.go"})
	write()
	if len(kept) != 4 {
		t.Fatalf("%d things are kept: %+v", len(kept), kept)
	}
	q, _ := still(t, 80, 40, func(o *front.Options) {
		o.Session.History = []session.Message{
			{Seq: 1, Role: session.RoleUser, Created: clock, Parts: []session.Part{{Kind: session.PartText, Text: "hello"}}},
			{Seq: 3, Role: session.RoleUser, Created: clock, Parts: []session.Part{{Kind: session.PartText, Text: "again"}}},
		}
		o.Session.Shown = kept
	})
	s := tuitest.Stripped(q.frameText())
	last := 0
	for _, want := range []string{"› hello", "✗ 401: the key was refused", "✗ ! false", "· Undid turn #1: a.go", "› again"} {
		at := strings.Index(s, want)
		if at < last {
			t.Errorf("%q is not where it was:\n%s", want, s)
		}
		last = max(at, last)
	}
	if strings.Contains(s, "loaded 3 skills") {
		t.Errorf("what is said at each start is kept:\n%s", s)
	}
}

func TestThePickerPreviewsTheSessionUnderTheCursor(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 30, nil)
	pk := dialog.NewPicker("Sessions", []command.Row{{ID: "1", Name: "one", Detail: "first prompt"}, {ID: "2", Name: "two"}}, nil)
	pk.Preview = func(_ context.Context, r command.Row, query string) (string, error) {
		if query != "" {
			return "found: …" + query + "…", nil
		}
		return "› last prompt of " + r.Name, nil
	}
	p.Open(pk)
	settleCmd(p, pk.Searched(p))
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "last prompt of one") {
		t.Errorf("no preview:\n%s", s)
	}
	settleCmd(p, p.route(tea.KeyPressMsg{Code: tea.KeyDown}))
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "last prompt of two") {
		t.Errorf("no preview of the second:\n%s", s)
	}
	settleCmd(p, p.route(tea.KeyPressMsg{Text: "o", Code: 'o'}))
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "found: …o…") {
		t.Errorf("the line that was found is not shown:\n%s", s)
	}
}

func TestLoginLeadsToAnotherKeyOrAnOwnServer(t *testing.T) {
	t.Parallel()
	var entered []string
	p, f := still(t, 80, 30, func(o *front.Options) {
		o.Login = &front.FirstRun{
			Looked: "Asked on this machine: ollama.",
			Found: func(context.Context) ([]command.Row, error) {
				return []command.Row{{ID: "tour", Name: "Take the offline tour"}}, nil
			},
			Providers: []command.Row{{ID: "openai", Name: "openai"}},
			EnterKey: func(_ context.Context, provider, key string) error {
				entered = append(entered, provider+"="+key)
				return nil
			},
			EnterServer: func(_ context.Context, address, key string) (command.Row, error) {
				if key == "bad" {
					return command.Row{}, errors.New("refused")
				}
				entered = append(entered, address+"="+key)
				return command.Row{ID: "server/coder", Name: "server/coder"}, nil
			},
		}
	})
	enter := tea.KeyPressMsg{Code: tea.KeyEnter}
	write := func(s string) {
		p.paste(s)
		settleCmd(p, p.route(enter))
	}
	feed(p, event.TurnEnd{Reason: event.StopError, Error: "401", Err: &model.Error{Class: model.ClassAuth}})
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "/login enters another key") {
		t.Errorf("a refused key does not lead to /login:\n%s", s)
	}
	settleCmd(p, p.panels.login())
	if s := tuitest.Stripped(p.frameText()); strings.Contains(s, "tour") || !strings.Contains(s, "Asked on this machine: ollama.") {
		t.Errorf("the list:\n%s", s)
	}
	settleCmd(p, p.route(enter))
	settleCmd(p, p.route(enter))
	write("sk-secret")
	if s := tuitest.Stripped(p.frameText()); len(entered) != 1 || entered[0] != "openai=sk-secret" || f.State().Model != "openai/" || strings.Contains(s, "sk-secret") {
		t.Errorf("entered %q, model %s:\n%s", entered, f.State().Model, s)
	}
	settleCmd(p, p.panels.login())
	p.route(tea.KeyPressMsg{Code: tea.KeyDown})
	settleCmd(p, p.route(enter))
	write("http://localhost:8000/v1")
	write("bad")
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "✗ refused") {
		t.Errorf("a refusal is not said:\n%s", s)
	}
	settleCmd(p, p.route(enter)) // nothing was pressed
	if len(entered) != 2 || entered[1] != "http://localhost:8000/v1=" || f.State().Model != "server/coder" {
		t.Errorf("entered %q, model %s", entered, f.State().Model)
	}
}

func TestALineForTheShellHasItsOwnSign(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, func(o *front.Options) {
		o.Shell = func(context.Context, string, func(string)) error { return nil }
	})
	p.in.SetText("!ls")
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "$ !ls") {
		t.Errorf("no sign:\n%s", s)
	}
	p.in.SetText("ls!")
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "› ls!") {
		t.Errorf("the sign stays:\n%s", s)
	}
}

func TestContextSaysWhatIsNotSent(t *testing.T) {
	t.Parallel()
	use := agent.ContextUse{Total: 100, Window: 1000, Parts: []agent.ContextPart{{Name: "messages", Tokens: 100}}}
	if s := contextText(use, 90); strings.Contains(s, "not sent") {
		t.Errorf("%s", s)
	}
	use.Unsent = 2
	if s := strings.Join(strings.Fields(contextText(use, 90)), " "); !strings.Contains(s, "Of 2 earlier answers the thinking, or what else only its model understands, is kept and does not reach the model in use.") {
		t.Errorf("%s", s)
	}
}
