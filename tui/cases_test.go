//go:build linux || darwin

package tui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent"
	"jcode/agent/model"
	"jcode/internal/testkit/terminal"
	"jcode/tools"
	"jcode/tools/command"
)

// pause is longer than the keys of one paste are apart.
const pause = 40 * time.Millisecond

func TestWideTextKeepsTheCursorInPlace(t *testing.T) {
	t.Parallel()
	const wide = "한글中文日本語ABC"
	r := run(t, 20, 12, nil)
	r.see("›")
	r.Type(wide)
	// 17 columns of text: 한글中文日本語 is 14 wide, ABC ends at 17.
	s := r.see("ABC")
	if s.CursorX != 2+17 && s.CursorX != 2 {
		t.Errorf("cursor at %d:\n%s", s.CursorX, s.Text())
	}
	r.Press("left", "left", "left", "backspace")
	s = r.see("› 한글中文日本ABC")
	if s.CursorX != 2+12 || s.Cell(s.CursorX, s.CursorY).Text != "A" {
		t.Errorf("cursor at column %d on %q:\n%s", s.CursorX, s.Cell(s.CursorX, s.CursorY).Text, s.Text())
	}
	for y, l := range s.Lines() {
		if strings.Contains(l, "語") {
			t.Errorf("left-over in row %d: %q", y, l)
		}
	}
	r.Press("ctrl+c")
	r.Press("ctrl+r") // the search of a picker
	r.see("search:")
	r.Type("中文A")
	s = r.see("search: 中文A")
	r.Press("left", "backspace")
	s = r.see("search: 中A")
	if c := s.Cell(s.CursorX, s.CursorY).Text; c != "A" {
		t.Errorf("cursor on %q:\n%s", c, s.Text())
	}
}

func TestEmojiAreOneCharacter(t *testing.T) {
	t.Parallel()
	r := run(t, 60, 12, nil).ready()
	r.Type("a👩‍👩‍👧🇨🇳b")
	s := r.see("› a👩‍👩‍👧🇨🇳b")
	if s.CursorX != 2+1+2+2+1 {
		t.Errorf("cursor at %d", s.CursorX)
	}
	r.Press("backspace", "backspace")
	s, err := r.Wait(limit, func(s terminal.Screen) bool { return strings.HasSuffix(lineWith(s, "› a"), "a👩‍👩‍👧") })
	if err != nil {
		t.Fatal(err)
	}
	r.Press("backspace")
	if _, err := r.Wait(limit, func(s terminal.Screen) bool { return strings.HasSuffix(lineWith(s, "› a"), "› a") }); err != nil {
		t.Fatal(err)
	}
	_ = s
}

func TestLongPasteFoldsAndIsSentWhole(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789 line\n", 9999) + "the last one"
	r := run(t, 80, 24, nil).ready()
	r.Paste(text)
	r.see("[Pasted text #1: 10000 lines · ctrl+x]")
	if len(r.fake.sent()) != 0 {
		t.Fatal("the paste was sent")
	}
	time.Sleep(pause)
	r.Press("enter")
	r.until("prompt", func() bool { return len(r.fake.sent()) == 1 })
	if r.fake.sent()[0] != text {
		t.Errorf("%d bytes were sent, want %d", len(r.fake.sent()[0]), len(text))
	}
	r.Press("up") // history gives the real text
	r.see("[Pasted text #2: 10000 lines · ctrl+x]")
	time.Sleep(pause)
	r.Press("enter")
	r.until("second prompt", func() bool { return len(r.fake.sent()) == 2 })
	if r.fake.sent()[1] != text {
		t.Error("what came back from the history is not what was sent")
	}
}

func TestFastKeysAreOnePaste(t *testing.T) {
	lines := make([]string, 2000)
	for i := range lines {
		lines[i] = "line " + itoa(i)
	}
	for deadline := time.Now().Add(limit); ; {
		sent, pause := sentByFastKeys(t, strings.Join(lines, "\r"))
		if len(sent) == 1 && sent[0] == strings.Join(lines, "\n") {
			return
		}
		// A machine that pauses in the midst of it makes a person's Enter of a line end.
		if pause < burstWait || time.Now().After(deadline) {
			t.Fatalf("%d prompts were sent, the longest pause between keys was %s", len(sent), pause)
		}
	}
}

// sentByFastKeys types a text whose last line is "line 1999" in one go, then Enter, and gives
// the prompts that were sent and the longest pause between two keys before that Enter.
func sentByFastKeys(t *testing.T, text string) (sent []string, pause time.Duration) {
	t.Helper()
	var mu sync.Mutex
	var last time.Time
	r := run(t, 80, 24, func(o *Options) {
		o.observe = func(msg any) {
			if _, ok := msg.(tea.KeyPressMsg); !ok {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			now := time.Now()
			if !last.IsZero() {
				pause = max(pause, now.Sub(last))
			}
			last = now
		}
	}).ready()
	r.Type(text)
	r.see("line 1999")
	mu.Lock()
	before := pause
	mu.Unlock()
	time.Sleep(pasteGap + burstWait)
	r.Press("enter")
	r.until("prompt", func() bool { return len(r.fake.sent()) > 0 })
	return r.fake.sent(), before
}

func TestTypedAndSentInOneWrite(t *testing.T) {
	r := run(t, 80, 24, nil).ready()
	r.Type("hello\r")
	r.until("prompt", func() bool { return len(r.fake.sent()) == 1 })
	if got := r.fake.sent()[0]; got != "hello" {
		t.Errorf("sent %q", got)
	}
}

func TestAtCompletesMentionsAndWhatIsNew(t *testing.T) { // mcp.md section 6, resources
	t.Parallel()
	var mu sync.Mutex
	files := []string{"src/a.go"}
	release := make(chan struct{})
	defer close(release)
	slow := false
	r := run(t, 80, 24, func(o *Options) {
		o.Files = func(context.Context) ([]string, error) {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(files), nil
		}
		o.Mentions = func(ctx context.Context) ([]Row, error) {
			mu.Lock()
			hang := slow
			mu.Unlock()
			if hang {
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return []Row{{ID: "good:mem://day/notes", Info: "Notes of the day"}, {ID: "good:mem://day/{date}"}}, nil
		}
	}).ready()
	r.Type("see @goodnotes")
	s := r.see("› good:mem://day/notes", "Notes of the day")
	if s.Contains("good:mem:/ ") || s.Contains("mem://day/ ") {
		t.Errorf("an address has no folders:\n%s", s.Text())
	}
	r.Press("tab")
	r.see("see @good:mem://day/notes")
	r.Type("@{date")
	r.see("› good:mem://day/{date}")
	r.Press("tab")
	r.see("@good:mem://day/{date}") // the cursor stands behind it, to fill it in
	mu.Lock()
	files, slow = append(files, "src/made_since.go"), true
	mu.Unlock()
	r.Press("ctrl+u")
	r.Type("@since")
	r.see("› src/made_since.go") // a list that does not come holds nothing up
}

func TestPastedAtSignsSearchNothing(t *testing.T) {
	t.Parallel()
	var searches atomic.Int32
	r := run(t, 80, 24, func(o *Options) {
		o.Files = func(context.Context) ([]string, error) {
			searches.Add(1)
			return []string{"src/a.go", "src/deep/b c.go", "README.md"}, nil
		}
	}).ready()
	log := `error in @scope/pkg from a@b.c: @{"json":1} @"`
	r.Paste(log)
	r.see(`@scope/pkg`)
	time.Sleep(pause)
	r.Press("enter")
	r.until("prompt", func() bool { return len(r.fake.sent()) == 1 })
	if r.fake.sent()[0] != log {
		t.Errorf("sent %q", r.fake.sent()[0])
	}
	if n := searches.Load(); n != 0 {
		t.Errorf("%d searches for a paste", n)
	}
	r.Type("look at @bgo")
	r.see("› look at @bgo", "› src/deep/b c.go")
	r.Press("tab")
	r.see(`look at @"src/deep/b c.go"`)
	r.Type("and @READ")
	r.see("and @READ", "› README.md")
	time.Sleep(pause)
	r.Press("enter") // takes the choice
	r.see("and @README.md")
	time.Sleep(pause)
	r.Press("enter")
	r.until("prompt", func() bool { return len(r.fake.sent()) == 2 })
	if got := r.fake.sent()[1]; got != `look at @"src/deep/b c.go" and @README.md` {
		t.Errorf("sent %q", got)
	}
	if n := searches.Load(); n != 2 { // once a word, so that what is new is found
		t.Errorf("files were listed %d times", n)
	}
}

func TestExternalEditorGetsTheRealText(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	if err := os.WriteFile(filepath.Join(dir, "test-editor"), []byte("#!/bin/sh\ncp \"$1\" '"+seen+"'\necho added >> \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")) // the folder's own name may have blanks
	r := run(t, 80, 24, func(o *Options) { o.Env = append(o.Env, "EDITOR=test-editor") }).ready()
	text := strings.Repeat("a pasted line\n", 50) + "end"
	r.Paste(text)
	r.see("[Pasted text #1: 51 lines · ctrl+x]")
	r.Press("ctrl+g")
	r.see("[Pasted text #2: 51 lines · ctrl+x]")
	got, err := os.ReadFile(seen)
	if err != nil || string(got) != text {
		t.Errorf("the editor saw %d bytes, want %d (%v)", len(got), len(text), err)
	}
	time.Sleep(pause)
	r.Press("enter")
	r.until("prompt", func() bool { return len(r.fake.sent()) == 1 })
	if r.fake.sent()[0] != text+"added" {
		t.Errorf("sent %q", r.fake.sent()[0])
	}
}

func TestExactCommandWins(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	r := run(t, 80, 24, func(o *Options) {
		o.Commands = command.Set{Sources: []command.Source{commands{{Name: "quick", Description: "a skill", Run: func(context.Context, string) (command.Outcome, error) {
			ran.Add(1)
			return command.Outcome{Prompt: "be quick"}, nil
		}}}}}
	}).ready()
	r.Type("/quick")
	r.see("› /quick", "a skill")
	time.Sleep(pause)
	r.Press("enter")
	r.until("prompt", func() bool { return len(r.fake.sent()) == 1 })
	r.see("› /quick") // shown as it was typed
	r.Type("/quit")
	r.see("› /quit", "leave")
	time.Sleep(pause)
	r.Press("enter")
	select {
	case err := <-r.done:
		r.done <- err
	case <-time.After(limit):
		t.Fatalf("does not quit:\n%s", r.Screen().Text())
	}
	if ran.Load() != 1 {
		t.Errorf("the skill ran %d times", ran.Load())
	}
}

// commands is a source of commands.
type commands []command.Command

func (c commands) List() []command.Command { return c }

func TestStreamedTablesAndOpenFencesFit(t *testing.T) {
	t.Parallel()
	r := run(t, 40, 20, nil).ready()
	r.fake.emit(agent.TurnStart{Prompt: "x"})
	src := "| name | what it is and what it does, at some length |\n|---|---|\n| one | a cell with far more words than the screen has room for in one line |\n\n```nosuchlang\nfoo <bar> \"baz\n"
	for _, c := range strings.Split(src, "") {
		r.fake.emit(agent.TextDelta{Text: c})
	}
	s := r.see("foo <bar> \"baz", "│ a cell with far more")
	for y, l := range s.Lines() {
		for _, bad := range []string{"warn", "WARN", "lexer", "panic"} {
			if strings.Contains(l, bad) {
				t.Errorf("row %d: %q", y, l)
			}
		}
	}
}

func TestPickersSurviveNothingFound(t *testing.T) {
	t.Parallel()
	rows := func(context.Context) ([]Row, error) {
		return []Row{{ID: "a", Name: "alpha"}, {ID: "b", Name: "beta"}}, nil
	}
	var acted atomic.Int32
	r := run(t, 80, 24, func(o *Options) {
		o.Models, o.Roles = rows, rows
		o.Changes = func(context.Context) ([]FileChange, error) {
			return []FileChange{{Path: "x.go", Diff: sampleDiff}}, nil
		}
		o.Panels = []Panel{{Name: "mcp", Title: "MCP servers", Rows: rows, Actions: []Action{{Label: "connect", Run: func(context.Context, Row) (string, error) {
			acted.Add(1)
			return "", nil
		}}}}}
	}).ready()
	for _, cmd := range []string{"/model", "/role", "/theme", "/mode", "/help", "/mcp", "/diff"} {
		r.Type(cmd + " ")
		time.Sleep(pause)
		r.Press("enter")
		r.see("search:")
		r.Type("zzzqqq")
		r.see("search: zzzqqq", "nothing matches")
		time.Sleep(pause)
		r.Press("enter")
		if cmd != "/help" { // there Enter closes
			r.see("nothing matches")
			r.Press("esc")
		}
		r.gone("search:")
	}
	if st := r.fake.State(); st.Model != "test/model" || st.Role != "" || st.Mode != tools.ModeAsk {
		t.Errorf("something was chosen: %+v", st)
	}
	if acted.Load() != 0 {
		t.Error("an action ran on nothing")
	}
}

func TestStreamWritesAFewBytesPerByteShown(t *testing.T) {
	for name, line := range map[string]string{
		"sentences":     "Some words of an answer, number %d, that go on for a while and then end here.\n\n",
		"short colours": "## Heading %d\n\nSome *text* of part %d with `code`, a [link](x) and words to read.\n\n```go\nfunc f%d() { return }\n```\n\n- item %d\n- another 漢字 number %d,\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, 100, 30, nil).ready()
			r.fake.emit(agent.TurnStart{Prompt: "x"})
			r.see("stops")
			before := r.Written()
			var shown int
			for i := range 60 {
				s := strings.ReplaceAll(line, "%d", itoa(i))
				shown += len(s)
				for words := range slices.Chunk(strings.SplitAfter(s, " "), 5) { // as they come from a model
					r.fake.emit(agent.TextDelta{Text: strings.Join(words, "")})
				}
				if i%4 == 3 {
					r.see("number " + itoa(i) + ",")
				}
			}
			n := r.Written() - before
			t.Attr("bytes-ratio", fmt.Sprintf("%.2f", float64(n)/float64(shown)))
			if n > int64(shown)*3 {
				t.Errorf("%d bytes for %d bytes of text", n, shown)
			}
		})
	}
}

func TestHostileOutputTouchesNothing(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	evil := "a\rb\n\033[2J\033[?1049h\033[5;5H\033]0;pwned\007\033]52;c;eA==\007x\n"
	r.fake.emit(agent.TurnStart{Prompt: "run " + evil},
		agent.CallStart{ID: "c", Name: "exec", Arguments: jsonOf("cmd", "printf "+evil)},
		agent.CallProgress{ID: "c", Text: "state " + evil, Output: evil})
	r.see("│ b", "│ x")
	r.fake.emit(agent.CallEnd{ID: "c", Name: "exec", Status: "failed", Result: tools.Result{Text: evil, Failed: true, Display: tools.Display{Summary: evil, Diff: "@@ -1 +1 @@\n-" + evil + "+" + evil}}},
		agent.TextDelta{Text: evil}, agent.Notice{Level: agent.LevelWarn, Text: evil}, agent.ReasoningDelta{Text: evil},
		agent.AskPerson{ID: "a", Text: evil, Options: []string{evil, "fine"}},
		agent.AskForm{ID: "f", Form: tools.Form{From: evil, Text: evil, Fields: []tools.FormField{{Name: evil, Title: evil, Description: evil, Kind: tools.FieldChoice, Options: []string{evil}, Labels: []string{evil}, Default: evil}}}},
		agent.StateChanged{State: agent.State{Model: "m" + evil, Title: "t" + evil, Role: evil, Mode: tools.ModeAsk}},
		agent.QueueChanged{Queued: []agent.Queued{{Text: evil}}}, agent.TodoChanged{Items: []tools.TodoItem{{Text: evil, Status: "pending"}}},
		agent.ToolsChanged{Added: []string{evil}}, agent.Retrying{Reason: evil, Wait: time.Second})
	s := r.see("fine")
	if s.Title != "jcode: ta ⏎ b ⏎ x" {
		t.Errorf("title %q", s.Title)
	}
	out := r.Output()
	for _, bad := range []string{"\033]0;pwned", "\033]52;c;eA==", "\033[5;5H\033]"} {
		if strings.Contains(out, bad) {
			t.Errorf("the terminal got %q", bad)
		}
	}
	for _, o := range r.OSC() {
		if strings.HasPrefix(o, "52;") {
			t.Errorf("clipboard was set: %q", o)
		}
	}
}

func TestNestedAgentShowsInsideItsCall(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	r.fake.emit(agent.TurnStart{Prompt: "x"}, agent.CallStart{ID: "t", Name: "task", Arguments: jsonOf("prompt", "review it", "role", "reviewer"), At: time.Now()})
	for i := range 6 {
		id := "n" + itoa(i)
		r.fake.emit(agent.Nested{CallID: "t", Label: "reviewer", Event: agent.CallStart{ID: id, Name: "read", Arguments: jsonOf("path", "f"+itoa(i)+".go"), At: time.Now()}},
			agent.Nested{CallID: "t", Event: agent.CallEnd{ID: id, Name: "read", Status: "done"}})
	}
	r.fake.emit(agent.Nested{CallID: "t", Event: agent.TextDelta{Text: "looks good"}})
	s := r.see("task review it (reviewer)", "✓ read f5.go", "2 earlier calls", "looks good")
	if s.Contains("f0.go") {
		t.Errorf("all calls show:\n%s", s.Text())
	}
}

func TestNotificationOnlyWhileLookingElsewhere(t *testing.T) {
	t.Parallel()
	blurred := make(chan bool, 1)
	r := run(t, 80, 24, func(o *Options) {
		o.observe = func(msg any) {
			if _, ok := msg.(tea.BlurMsg); ok {
				blurred <- true
			}
		}
	}).ready()
	r.fake.emit(agent.TurnStart{Prompt: "x"}, agent.TurnEnd{Reason: agent.StopDone, Text: "one"}, agent.Notice{Text: "first over"})
	r.see("first over")
	if n := len(notifications(r)); n != 0 {
		t.Errorf("%d notifications with the window in focus", n)
	}
	r.Type("\x1b[O") // the terminal lost the focus
	select {
	case <-blurred:
	case <-time.After(limit):
		t.Fatal("the loss of focus was not noticed")
	}
	r.fake.emit(agent.TurnStart{Prompt: "x"}, agent.TurnEnd{Reason: agent.StopDone, Text: "two"})
	r.until("notification", func() bool { return len(notifications(r)) > 0 })
}

func notifications(r *running) []string {
	var out []string
	for _, o := range r.OSC() {
		if strings.HasPrefix(o, "777;notify") {
			out = append(out, o)
		}
	}
	return out
}

func TestScrollingKeepsItsPlaceWhileMoreComes(t *testing.T) {
	t.Parallel()
	r := run(t, 60, 16, nil).ready()
	r.fake.emit(agent.TurnStart{Prompt: "x"})
	var b strings.Builder
	for i := range 60 {
		b.WriteString("line " + itoa(i) + "\n\n")
	}
	r.fake.emit(agent.TextDelta{Text: b.String()}, agent.AssistantMessage{Text: b.String()})
	r.see("line 59")
	r.Press("pgup")
	s := r.gone("line 59")
	first := s.Line(0)
	r.fake.emit(agent.Notice{Text: "news"}, agent.Notice{Text: "more news"})
	s = r.see("2 new items below")
	if s.Line(0) != first {
		t.Errorf("the window moved from %q to %q", first, s.Line(0))
	}
	r.Press("ctrl+end")
	r.see("more news")
	r.gone("below")
}

func TestStatusShowsWhatIsUsed(t *testing.T) {
	t.Parallel()
	r := run(t, 100, 12, func(o *Options) { o.Health = func() string { return "mcp 2/3" } }).ready()
	r.fake.emit(agent.UsageEvent{Total: model.Usage{Input: 5}, Context: 64000, Window: 128000, Cost: 1.5, Priced: true})
	r.see("test/model · ask · 50% of 128.0k · $1.50 · mcp 2/3")
	r.Press("shift+tab")
	r.see("mode edits:")
}
