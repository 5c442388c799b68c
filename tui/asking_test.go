//go:build linux || darwin

package tui

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

// opening opens each dialog that opens by itself; answered says whether anything was answered.
func opening(p *program, f *tuitest.Conversation) map[string]func() {
	edit := tools.Question{Tool: "edit", Title: "Edit a", Diff: newFileDiff("a", "x\n"), Editable: "new", Arguments: tuitest.JSON("new", "x"), Options: tuitest.Question().Options}
	return map[string]func(){
		"command": func() { feed(p, event.ApprovalAsked{ID: "q", Question: tuitest.Question()}) },
		"edit":    func() { feed(p, event.ApprovalAsked{ID: "q", Question: edit}) },
		"bare approval": func() {
			feed(p, event.ApprovalAsked{ID: "q", Question: tools.Question{Tool: "lsp", Title: "Start it?"}})
		},
		"question":      func() { feed(p, event.AskPerson{ID: "q", Text: "Which?", Options: []string{"one", "two"}}) },
		"free question": func() { feed(p, event.AskPerson{ID: "q", Text: "What?"}) },
		"sign-in":       func() { feed(p, event.AskForm{ID: "q", Form: tools.Form{From: "MCP server s", Text: "Sign in?"}}) },
		"form":          func() { feed(p, event.AskForm{ID: "q", Form: tuitest.Form()}) },
		"form, defaults": func() {
			feed(p, event.AskForm{ID: "q", Form: tools.Form{From: "s", Fields: []tools.FormField{{Name: "sure", Kind: tools.FieldBoolean, Default: true}}}})
		},
		"plan": func() {
			p.state.Mode, p.state.Planning = tools.ModePlan, true
			feed(p, event.TurnEnd{Reason: event.StopDone, Text: "1. Do it."})
		},
		"trust": func() {
			p.ask(dialog.NewTrust(command.Trust{Folder: "/x", Decide: func(context.Context, bool) error { f.Replies["q"] = "trust"; return nil }}))
		},
	}
}

// typist presses keys like a person, with the clock of the test.
type typist struct {
	p    *program
	wait chan struct{}
}

// run runs a command beside the keys that follow, as the program does.
func (k typist) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		msg := cmd()
		<-k.wait
		defer func() { k.wait <- struct{}{} }()
		switch msg := msg.(type) {
		case tea.BatchMsg:
			for _, c := range msg {
				k.run(c)
			}
		case nil:
		default:
			k.run(k.p.route(msg))
		}
	}()
}

func (k typist) pause(d time.Duration) {
	k.wait <- struct{}{}
	time.Sleep(d)
	<-k.wait
}

// rest lets what is still on its way end.
func (k typist) rest() { k.pause(10 * time.Second) }

// write types a word.
func (k typist) write(word string) {
	for _, r := range word {
		k.pause(60 * time.Millisecond)
		k.p.frameText()
		k.run(k.p.key(tea.KeyPressMsg{Text: string(r), Code: r}))
	}
}

func (k typist) press(name string) {
	k.pause(60 * time.Millisecond)
	k.p.frameText()
	k.run(k.p.key(namedKey(name)))
}

// asking runs a test for each dialog that opens by itself.
func asking(t *testing.T, test func(t *testing.T, k typist, f *tuitest.Conversation, open func())) {
	p, f := still(t, 80, 24, nil)
	for name := range maps.Keys(opening(p, f)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, f := still(t, 80, 24, nil)
				feed(p, event.TurnStart{Prompt: "x", At: clock})
				k := typist{p, make(chan struct{}, 1)}
				defer k.rest()
				test(t, k, f, opening(p, f)[name])
			})
		})
	}
}

// Whatever word is typed beside an open question, and Enter behind it, answers nothing.
func TestNoWordAnswersAQuestion(t *testing.T) {
	t.Parallel()
	asking(t, func(t *testing.T, k typist, f *tuitest.Conversation, open func()) {
		for r := range "abcdefghijklmnopqrstuvwxyz123456789" {
			word := string("abcdefghijklmnopqrstuvwxyz123456789"[r]) + "o it"
			for _, pause := range []time.Duration{100 * time.Millisecond, 1200 * time.Millisecond} {
				k.p.stack.Asks, k.p.stack.Later = nil, nil
				open()
				k.pause(2 * time.Second)
				k.write(word)
				k.pause(pause)
				k.press("enter")
				k.pause(time.Second)
				if tuitest.AnsweredBy(f) {
					t.Fatalf("%q and enter answer it", word)
				}
				k.p.in.Reset()
			}
		}
	})
}

// Enter belongs to the input while it holds text, and without a choice it answers nothing.
func TestEnterBelongsToTheInput(t *testing.T) {
	t.Parallel()
	asking(t, func(t *testing.T, k typist, f *tuitest.Conversation, open func()) {
		k.write("please stop")
		k.pause(100 * time.Millisecond)
		open()
		k.pause(1200 * time.Millisecond)
		k.press("enter")
		k.pause(time.Second)
		if tuitest.AnsweredBy(f) {
			t.Fatal("the enter of a sentence answers the question")
		}
		if got := f.Sent(); len(got) != 1 || got[0] != "please stop" {
			t.Errorf("sent %q", got)
		}
		k.p.stack.Asks = nil
		open()
		k.pause(350 * time.Millisecond)
		k.press("enter")
		k.pause(2 * time.Second)
		k.press("enter")
		k.pause(time.Second)
		if tuitest.AnsweredBy(f) {
			t.Fatal("enter alone answers the question")
		}
	})
}

// No key reaches a question in its first moments.
func TestAQuestionTakesNoKeyAtOnce(t *testing.T) {
	t.Parallel()
	asking(t, func(t *testing.T, k typist, f *tuitest.Conversation, open func()) {
		k.pause(time.Minute)
		open()
		k.pause(dialog.Quiet - 100*time.Millisecond)
		k.write("y")
		k.pause(400 * time.Millisecond)
		k.press("down")
		k.pause(400 * time.Millisecond)
		if tuitest.AnsweredBy(f) || k.p.in.Text() != "y" {
			t.Errorf("answered, or the input holds %q", k.p.in.Text())
		}
	})
}

// From its first frame on, a question names no key that it does not take yet, whether a key was pressed just before or not.
func TestAQuestionNamesNoKeyBeforeItTakesOne(t *testing.T) {
	t.Parallel()
	asking(t, func(t *testing.T, k typist, _ *tuitest.Conversation, open func()) {
		frame := func() string { return tuitest.Stripped(k.p.frameText()) }
		k.write("a")
		k.p.in.Reset()
		open()
		if s := frame(); !strings.Contains(s, "pause to answer") {
			t.Errorf("the first frame does not say to pause:\n%s", s)
		}
		first := frame()
		k.pause(2 * time.Second)
		for row := range strings.SplitSeq(frame(), "\n") {
			key, label, _ := strings.Cut(strings.TrimSpace(row), " ")
			if (len(key) == 1 && key != "/" && !strings.HasPrefix(label, "+") && !strings.HasPrefix(key, "[") || key == "enter" || key == "↑↓") && strings.Contains(first, row) {
				t.Errorf("the first frame has %q", row)
			}
		}
	})
}

// An arrow, or a letter alone, is a choice.
func TestAQuestionIsAnsweredByAChoice(t *testing.T) {
	t.Parallel()
	asking(t, func(t *testing.T, k typist, f *tuitest.Conversation, open func()) {
		open()
		k.pause(2 * time.Second)
		k.press("up")
		if _, ok := k.p.stack.Front().(*dialog.Question); ok {
			k.press("tab")
			k.write("so")
		}
		k.press("enter")
		k.pause(time.Second)
		if _, plan := k.p.stack.Front().(*dialog.Plan); !tuitest.AnsweredBy(f) && !plan && len(k.p.stack.Asks) > 0 {
			t.Errorf("not answered:\n%s", tuitest.Stripped(k.p.frameText()))
		}
	})
}

// Esc puts a question aside, the strip says so, and Ctrl+T brings it back, where it takes keys at once.
func TestAQuestionIsPutAsideAndBroughtBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, f := still(t, 80, 24, nil)
		k := typist{p, make(chan struct{}, 1)}
		defer k.rest()
		feed(p, event.ApprovalAsked{ID: "q", Question: tuitest.Question()}) // no turn runs: an agent asks
		k.pause(time.Second)
		k.press("esc")
		if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "1 question waits for you  (ctrl+t answers)") || strings.Contains(s, "Run a command") {
			t.Fatalf("aside:\n%s", s)
		}
		k.write("go on")
		k.press("enter")
		if got := f.Sent(); len(got) != 1 || tuitest.AnsweredBy(f) {
			t.Fatalf("sent %q", got)
		}
		k.press("ctrl+t")
		if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "Run a command") {
			t.Fatalf("brought back:\n%s", s)
		}
		k.write("y")
		k.pause(time.Second)
		if a, ok := f.Answered("q"); !ok || a.Scope != tools.AnswerOnce {
			t.Errorf("answered %+v", a)
		}
		feed(p, event.ApprovalAsked{ID: "r", Question: tuitest.Question()})
		k.pause(time.Second)
		k.press("esc")
		feed(p, event.ApprovalClosed{ID: "r"}) // its agent ended
		if s := tuitest.Stripped(p.frameText()); strings.Contains(s, "waits for you") {
			t.Errorf("a question that is over still waits:\n%s", s)
		}
	})
}

// Ctrl+C twice leaves, whatever question is open.
func TestCtrlCLeavesBesideAQuestion(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, nil)
	feed(p, event.ApprovalAsked{ID: "q", Question: tuitest.Question()})
	p.stack.Asks[0].(*dialog.Approval).Open = true
	p.key(namedKey("ctrl+c"))
	if cmd := p.key(namedKey("ctrl+c")); cmd == nil {
		t.Error("it does not leave")
	} else if _, quit := cmd().(tea.QuitMsg); !quit {
		t.Error("it does something else")
	}
}

// The keys of a search are its own, although they are answers elsewhere.
func TestASearchKeepsItsKeysBesideAQuestion(t *testing.T) {
	t.Parallel()
	p, f, a := asked(t, 80, 24, tuitest.Question())
	feed(p, event.Notice{Text: "needle one"}, event.Notice{Text: "needle two"})
	p.tr.Search(&p.look, "needle")
	at := p.tr.Find.At
	press(p, "n")
	if _, ok := f.Answered("q"); ok || p.tr.Find.At == at {
		t.Errorf("n answers, or does not go on: %d", p.tr.Find.At)
	}
	press(p, "esc")
	if p.tr.Find.Active() || !slices.Contains(p.stack.Asks, dialog.Dialog(a)) {
		t.Error("esc does not end the search, or puts the question aside")
	}
	press(p, "n")
	if ans, ok := f.Answered("q"); !ok || ans.Scope != tools.AnswerNo {
		t.Errorf("answered %+v", ans)
	}
}

// The row of a refused call says why, in the words of whoever refused it.
func TestARefusedCallSaysWhy(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, nil)
	feed(p, event.TurnStart{Prompt: "x", At: clock})
	for i, c := range []struct{ said, want string }{
		{"denied by user: Edit a\nThe user says: use context instead", "⊘ edit a.go  no: use context instead"},
		{"refused by hook guard: pushing is for people", "⊘ edit a.go  hook: pushing is for people"},
		{"denied by user: Edit a", "⊘ edit a.go  no"},
		{"denied: mode plan", "⊘ edit a.go  not allowed"},
	} {
		id := strconv.Itoa(i)
		feed(p, event.CallStart{ID: id, Name: "edit", Arguments: tuitest.JSON("path", "a.go"), At: clock},
			event.CallEnd{ID: id, Name: "edit", Status: "denied", Result: tools.Result{Text: c.said, Failed: true}})
		if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, c.want) {
			t.Errorf("no %q:\n%s", c.want, s)
		}
	}
}

// A session that was found by its text shows the line that was found at once, with the word marked.
func TestASessionFoundByItsTextShowsTheLine(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, func(o *front.Options) {
		goldenOptions(o)
		o.Sessions = &foundSessions{Sessions: &tuitest.Sessions{}}
		o.Preview = func(_ context.Context, id, query string) (string, error) {
			return "found: the " + query + " of " + id, nil
		}
	})
	p.in.Insert("/resume needle")
	press(p, "enter")
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "found: the needle of hidden") {
		t.Errorf("the preview:\n%s", s)
	}
	if s := p.frameText(); !strings.Contains(s, string(p.look.Theme.Match)+"mneedle") {
		t.Errorf("the word is not marked:\n%q", s)
	}
}

// foundSessions holds a session that only its text leads to.
type foundSessions struct{ *tuitest.Sessions }

func (s *foundSessions) List(_ context.Context, query string, _ bool) ([]session.Session, error) {
	if query == "needle" {
		return []session.Session{{ID: "hidden", Title: "Something else"}}, nil
	}
	return nil, nil
}
