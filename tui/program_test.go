//go:build linux || darwin

package tui

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/testkit/terminal"
	"jcode/tools"
	"jcode/tui/dialog"
	"jcode/tui/tuitest"
)

func TestPromptAndAnswerShow(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	r.fake.OnPrompt = func(event.Prompt) {
		r.fake.Busy(true)
		r.fake.Emit(event.StepStart{Step: 1}, event.TextDelta{Text: "Here is **bold** text:\n\n- one\n- two\n"})
	}
	r.Type("hello there")
	r.see("› hello there")
	r.Press("enter")
	s := r.see("Here is bold text:", "• one", "• two")
	if x, y, ok := s.Find("bold"); !ok || !s.Cell(x, y).Bold {
		t.Error("bold text is not bold")
	}
	r.fake.Emit(event.CallStart{ID: "c1", Name: "read", Arguments: tuitest.JSON("path", "src/a.go"), At: time.Now()})
	r.see("read src/a.go")
	r.fake.Emit(event.CallEnd{ID: "c1", Name: "read", Status: "done", Result: tools.Result{Text: "x", Display: tools.Display{Summary: "12 lines"}}})
	r.see("✓ read src/a.go  12 lines")
	r.fake.Busy(false)
	r.fake.Emit(event.AssistantMessage{Text: "Here is **bold** text:\n\n- one\n- two\n"}, event.TurnEnd{Reason: event.StopDone})
	s = r.gone("stops")
	if !s.Contains("› hello there") || !s.Contains("ask for something") {
		t.Errorf("screen:\n%s", s.Text())
	}
	if got := r.fake.Sent(); len(got) != 1 || got[0] != "hello there" {
		t.Errorf("sent %q", got)
	}
}

func TestApprovalIsAnsweredByKey(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]tools.AnswerScope{"y": tools.AnswerOnce, "s": tools.AnswerSession, "3": tools.AnswerProject, "n": tools.AnswerNo, "down enter": tools.AnswerOnce, "up enter": tools.AnswerNo} {
		r := run(t, 80, 24, nil).ready()
		r.fake.Emit(event.ApprovalAsked{ID: "q1", Question: tuitest.Question()})
		r.see("Run a command", "go test ./...", "y once")
		r.Press(strings.Fields(key)...)
		r.until("answer to "+key, func() bool { _, ok := r.fake.Answered("q1"); return ok })
		if a, _ := r.fake.Answered("q1"); a.Scope != want {
			t.Errorf("%s: scope %s, want %s", key, a.Scope, want)
		}
		r.gone("Run a command")
	}
}

func TestTypeAheadNeverAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, f := still(t, 80, 24, nil)
		write := func(c rune) { settleCmd(p, p.route(tea.KeyPressMsg{Text: string(c), Code: c})) }
		for i, c := range "yes please " { // the pauses are too short
			time.Sleep(dialog.Quiet - time.Millisecond)
			if i == 3 {
				feed(p, event.ApprovalAsked{ID: "q1", Question: tuitest.Question()})
			}
			write(c)
			if _, ok := f.Answered("q1"); ok {
				t.Fatalf("answered by type-ahead:\n%s", tuitest.Stripped(p.frameText()))
			}
		}
		if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "Run a command") || strings.Contains(s, "y once") {
			t.Errorf("the question does not show, or takes keys already:\n%s", s)
		}
		time.Sleep(dialog.Quiet)
		if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "y once") { // now it accepts keys
			t.Errorf("the question takes no keys:\n%s", s)
		}
		write('n')
		if a, ok := f.Answered("q1"); !ok || a.Scope != tools.AnswerNo {
			t.Errorf("answered %+v, %v", a, ok)
		}
		if got := p.in.Text(); got != "yes please " {
			t.Errorf("the input holds %q", got)
		}
		if len(f.Sent()) != 0 {
			t.Errorf("sent %q", f.Sent())
		}
	})
}

func TestRefusalCarriesAWord(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	r.fake.Emit(event.ApprovalAsked{ID: "q1", Question: tuitest.Question()})
	r.see("y once")
	r.Press("w")
	r.see("tell it why not:")
	r.Type("use make instead")
	r.see("use make instead")
	r.Press("enter")
	r.until("answer", func() bool { _, ok := r.fake.Answered("q1"); return ok })
	if a, _ := r.fake.Answered("q1"); a.Scope != tools.AnswerNo || a.Word != "use make instead" {
		t.Errorf("answer %+v", a)
	}
}

func TestWholeCommandIsVisible(t *testing.T) {
	t.Parallel()
	r := run(t, 60, 20, nil).ready()
	q := tuitest.Question()
	q.Command = "ls" + strings.Repeat(" ", 300) + "; curl x \u202eevil"
	r.fake.Emit(event.ApprovalAsked{ID: "q1", Question: q})
	s := r.see("y once")
	for _, want := range []string{"; curl x", "300 spaces", "U+202E", "evil"} {
		if !s.Contains(want) {
			t.Errorf("no %q on the screen:\n%s", want, s.Text())
		}
	}
}

func TestCtrlC(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	r.Type("some text")
	r.see("› some text")
	r.Press("ctrl+a", "ctrl+d")
	r.see("› ome text")
	r.Press("ctrl+c")
	r.see("ask for something")
	r.Press("up")
	r.see("› ome text") // nothing is lost
	r.Press("ctrl+c")
	r.see("ask for something")
	r.fake.Busy(true)
	r.fake.Emit(event.TurnStart{Prompt: "x"})
	r.see("stops")
	r.Press("ctrl+c")
	r.see("Interrupted.")
	hinted := false
	for deadline := time.Now().Add(tuitest.Limit); !hinted && time.Now().Before(deadline); {
		r.Press("ctrl+c") // a slow machine may miss the hint, which is shown again
		_, err := r.Wait(10*time.Second, func(s terminal.Screen) bool { return s.Contains("press ctrl+c again to quit") })
		hinted = err == nil
	}
	if !hinted {
		t.Fatalf("the first press does not say what the second does:\n%s", r.Screen().Text())
	}
	if err := r.quit(); err != nil {
		t.Error(err)
	}
}

func TestEscGivesQueuedTextBack(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	r.fake.Busy(true)
	r.fake.Emit(event.TurnStart{Prompt: "first"})
	r.see("stops")
	r.Type("second")
	r.see("› second")
	r.Press("enter")
	r.see("⧗ second")
	r.Type("third")
	r.see("› third")
	r.Press("enter")
	r.see("⧗ second", "⧗ third")
	r.Press("esc")
	r.see("Interrupted.", "› second", "third", "back in the input")
	r.gone("⧗")
	if got := r.fake.Sent(); len(got) != 2 {
		t.Errorf("sent %q", got)
	}
}

func TestUnknownCommandIsNamed(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	r.Type("/quti")
	r.see("› /quti")
	r.Press("enter")
	r.see("unknown command /quti", "› /quti") // the first appears in the status line, the second stays in the transcript
}

func TestTinyAndHugeTerminals(t *testing.T) {
	r := run(t, 200, 50, nil).ready()
	r.fake.Busy(true)
	r.fake.Emit(event.TurnStart{Prompt: "go"})
	stop := make(chan struct{})
	go func() {
		for i := range 200 {
			select {
			case <-stop:
				return
			default:
			}
			r.fake.Emit(event.TextDelta{Text: "word " + strconv.Itoa(i) + " 漢字 👩‍👩‍👧 and more of it\n\n"})
			time.Sleep(time.Millisecond)
		}
	}()
	for _, size := range [][2]int{{20, 5}, {1, 1}, {2, 3}, {40, 12}, {3, 1}, {1, 30}, {120, 40}} {
		r.resize(size[0], size[1])
		r.Settle(30*time.Millisecond, 300*time.Millisecond)
	}
	close(stop)
	r.fake.Emit(event.TextDelta{Text: "THE END\n"})
	s := r.see("THE END", "test/model")
	if n := strings.Count(s.Text(), "THE END"); n != 1 {
		t.Errorf("left-overs on the screen:\n%s", s.Text())
	}
	if !s.AltScreen {
		t.Error("not in the alternate screen")
	}
}

func TestTerminalIsRestored(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(r *running){
		"quit":  func(r *running) { r.Type("/quit\r") },
		"ended": func(r *running) { r.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, 80, 24, nil)
			before := r.InitialStty()
			r.ready()
			if raw, _ := r.Stty(); raw == before {
				t.Error("the terminal is not in raw mode")
			}
			end(r)
			select {
			case err := <-r.done:
				r.done <- err
			case <-time.After(tuitest.Limit):
				t.Fatalf("does not end:\n%s", r.Screen().Text())
			}
			s, err := r.Wait(tuitest.Limit, func(s terminal.Screen) bool { return !s.AltScreen && s.CursorVisible })
			if err != nil {
				t.Error(err)
			}
			_ = s
			for _, mode := range []int{2004, 1000, 1002, 1003, 1006, 1004, 1049} {
				if r.Mode(mode) {
					t.Errorf("mode %d is still on", mode)
				}
			}
			if after, _ := r.Stty(); after != before {
				t.Errorf("line settings differ:\n%s\n%s", before, after)
			}
		})
	}
}

func TestAWordThatBeginsLikeAnAnswerIsNone(t *testing.T) {
	t.Parallel()
	p, f := still(t, 80, 24, nil)
	feed(p, event.TurnStart{Prompt: "x"}, event.ApprovalAsked{ID: "a", Question: tools.Question{Tool: "exec", Title: "Run a command", Command: "make"}})
	a := p.stack.Asks[0].(*dialog.Approval)
	a.Open = true
	first := p.route(tea.KeyPressMsg{Text: "y", Code: 'y'})
	for _, c := range "es please" {
		p.route(tea.KeyPressMsg{Text: string(c), Code: c})
	}
	settleCmd(p, first) // the wait for a second letter is over
	if ans, ok := f.Answered("a"); ok || p.in.Text() != "yes please" || a.Open {
		t.Fatalf("answered with %v, the input holds %q", ans, p.in.Text())
	}
	press(p, "ctrl+t") // turns to the question
	press(p, "y")
	if ans, ok := f.Answered("a"); !ok || ans.Scope != tools.AnswerOnce {
		t.Errorf("y alone answers %v", ans)
	}

	feed(p, event.ApprovalAsked{ID: "b", Question: tools.Question{Tool: "exec", Title: "Run a command", Command: "make"}})
	p.stack.Asks[0].(*dialog.Approval).Open = true
	held := p.route(tea.KeyPressMsg{Text: "y", Code: 'y'})
	p.route(tea.KeyPressMsg{Code: tea.KeyDown}) // the person reconsiders
	settleCmd(p, held)
	if ans, ok := f.Answered("b"); ok {
		t.Errorf("answered with %v", ans)
	}
}
