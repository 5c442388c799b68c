//go:build linux || darwin

package tui

import (
	"context"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/internal/testkit/programs"
	"jcode/internal/testkit/terminal"
	"jcode/tools"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

func TestExternalEditorGetsTheRealText(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	bin := programs.Write(t, map[string]string{"test-editor": "cp \"$1\" '" + seen + "'\necho added >> \"$1\"\n"})
	t.Setenv("PATH", programs.First(bin)) // the folder's name may contain spaces
	r := run(t, 80, 24, func(o *front.Options) { o.Env = append(o.Env, "EDITOR=test-editor") }).ready()
	text := strings.Repeat("a pasted line\n", 50) + "end"
	r.Paste(text)
	r.see("[Pasted text #1: 51 lines · ctrl+x]")
	r.Press("ctrl+g")
	r.see("[Pasted text #2: 51 lines · ctrl+x]")
	got, err := os.ReadFile(seen)
	if err != nil || string(got) != text {
		t.Errorf("the editor saw %d bytes, want %d (%v)", len(got), len(text), err)
	}
	r.Press("enter")
	r.until("prompt", func() bool { return len(r.fake.Sent()) == 1 })
	if r.fake.Sent()[0] != text+"added" {
		t.Errorf("sent %q", r.fake.Sent()[0])
	}
}

func TestStreamedTablesAndOpenFencesFit(t *testing.T) {
	t.Parallel()
	r := run(t, 40, 20, nil).ready()
	r.fake.Emit(event.TurnStart{Prompt: "x"})
	src := "| name | what it is and what it does, at some length |\n|---|---|\n| one | a cell with far more words than the screen has room for in one line |\n\n```nosuchlang\nfoo <bar> \"baz\n"
	for _, c := range strings.Split(src, "") {
		r.fake.Emit(event.TextDelta{Text: c})
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

func TestStreamWritesAFewBytesPerByteShown(t *testing.T) {
	for name, line := range map[string]string{
		"sentences":     "Some words of an answer, number %d, that go on for a while and then end here.\n\n",
		"short colours": "## Heading %d\n\nSome *text* of part %d with `code`, a [link](x) and words to read.\n\n```go\nfunc f%d() { return }\n```\n\n- item %d\n- another 漢字 number %d,\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, 100, 30, nil).ready()
			r.fake.Emit(event.TurnStart{Prompt: "x"})
			r.see("stops")
			before := r.Written()
			var shown int
			for i := range 60 {
				s := strings.ReplaceAll(line, "%d", strconv.Itoa(i))
				shown += len(s)
				for words := range slices.Chunk(strings.SplitAfter(s, " "), 5) { // as a model sends them
					r.fake.Emit(event.TextDelta{Text: strings.Join(words, "")})
				}
				if i%4 == 3 {
					r.see("number " + strconv.Itoa(i) + ",")
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
	r.fake.Emit(event.TurnStart{Prompt: "run " + evil},
		event.CallStart{ID: "c", Name: "exec", Arguments: tuitest.JSON("cmd", "printf "+evil)},
		event.CallProgress{ID: "c", Text: "state " + evil, Output: evil})
	r.see("│ b", "│ x")
	r.fake.Emit(event.CallEnd{ID: "c", Name: "exec", Status: "failed", Result: tools.Result{Text: evil, Failed: true, Display: tools.Display{Summary: evil, Diff: "@@ -1 +1 @@\n-" + evil + "+" + evil}}},
		event.TextDelta{Text: evil}, event.Notice{Level: event.LevelWarn, Text: evil}, event.ReasoningDelta{Text: evil},
		event.AskPerson{ID: "a", Text: evil, Options: []string{evil, "fine"}},
		event.AskForm{ID: "f", Form: tools.Form{From: evil, Text: evil, Fields: []tools.FormField{{Name: evil, Title: evil, Description: evil, Kind: tools.FieldChoice, Options: []string{evil}, Labels: []string{evil}, Default: evil}}}},
		event.StateChanged{State: event.State{Model: "m" + evil, Title: "t" + evil, Role: evil, Mode: tools.ModeAsk}},
		event.QueueChanged{Queued: []event.Queued{{Text: evil}}}, event.TodoChanged{Items: []tools.TodoItem{{Text: evil, Status: "pending"}}},
		event.ToolsChanged{Added: []string{evil}}, event.Retrying{Reason: evil, Wait: time.Second})
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
	r.fake.Emit(event.TurnStart{Prompt: "x"}, event.CallStart{ID: "t", Name: "task", Arguments: tuitest.JSON("prompt", "review it", "role", "reviewer"), At: time.Now()})
	for i := range 6 {
		id := "n" + strconv.Itoa(i)
		r.fake.Emit(event.Nested{CallID: "t", Label: "reviewer", Event: event.CallStart{ID: id, Name: "read", Arguments: tuitest.JSON("path", "f"+strconv.Itoa(i)+".go"), At: time.Now()}},
			event.Nested{CallID: "t", Event: event.CallEnd{ID: id, Name: "read", Status: "done"}})
	}
	r.fake.Emit(event.Nested{CallID: "t", Event: event.TextDelta{Text: "looks good"}})
	s := r.see("task review it (reviewer)", "✓ read f5.go", "2 earlier calls", "looks good")
	if s.Contains("f0.go") {
		t.Errorf("all calls show:\n%s", s.Text())
	}
}

// An agent that goes on in the background may say its first words before its call ends: they don't stay there, nor does
// a call of it that still runs.
func TestWhatAnAgentBeganInItsCallDoesNotStayWhenItGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	r.fake.Emit(event.TurnStart{Prompt: "x"}, event.CallStart{ID: "t", Name: "task", Arguments: tuitest.JSON("prompt", "look around", "name", "ann"), At: time.Now()},
		event.Nested{CallID: "t", Label: "ann", Event: event.CallStart{ID: "n1", Name: "read", Arguments: tuitest.JSON("path", "slow.go"), At: time.Now()}},
		event.Nested{CallID: "t", Label: "ann", Event: event.TextDelta{Text: "Reading."}})
	r.see("look around", "Reading.", "slow.go")
	r.fake.Emit(event.CallEnd{ID: "t", Name: "task", Status: "done", Result: tools.Result{Text: "ann works in the background."}}, event.TurnEnd{Reason: event.StopDone, Text: "over"}, event.Notice{Text: "the end"})
	if s := r.see("look around", "the end"); s.Contains("Reading.") || s.Contains("slow.go") {
		t.Errorf("left behind:\n%s", s.Text())
	}
}

func TestNotificationOnlyWhileLookingElsewhere(t *testing.T) {
	t.Parallel()
	blurred := make(chan bool, 1)
	r := run(t, 80, 24, func(o *front.Options) {
		o.Observe = func(msg any) {
			if _, ok := msg.(tea.BlurMsg); ok {
				blurred <- true
			}
		}
	}).ready()
	r.fake.Emit(event.TurnStart{Prompt: "x"}, event.TurnEnd{Reason: event.StopDone, Text: "one"}, event.Notice{Text: "first over"})
	r.see("first over")
	if n := len(notifications(r)); n != 0 {
		t.Errorf("%d notifications with the window in focus", n)
	}
	r.Type("\x1b[O") // the terminal lost the focus
	select {
	case <-blurred:
	case <-time.After(tuitest.Limit):
		t.Fatal("the loss of focus was not noticed")
	}
	r.fake.Emit(event.TurnStart{Prompt: "x"}, event.TurnEnd{Reason: event.StopDone, Text: "two"})
	r.until("notification", func() bool { return len(notifications(r)) > 0 })
}

func TestATerminalOfSixteenColoursGetsAThemeOfThem(t *testing.T) {
	t.Parallel()
	for theme, want := range map[string]string{"": "ansi16", "auto": "ansi16", "dark": "dark"} {
		p, _ := still(t, 80, 24, func(o *front.Options) { o.Theme = theme })
		p.route(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
		p.route(tea.BackgroundColorMsg{Color: color.White}) // its reply does not change that
		if got := p.look.Theme.Name; got != want {
			t.Errorf("theme %q is %s, want %s", theme, got, want)
		}
		p.route(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
		if got := p.look.Theme.Name; got == "ansi16" {
			t.Errorf("theme %q stays %s in all colours", theme, got)
		}
	}
}

// Of 256 colours none is a dim green or red: on a dark background the text of changed rows is green or red, on a light one
// they have a background; words differ by a line.
func TestATerminalOf256ColoursTellsAddedFromRemoved(t *testing.T) {
	t.Parallel()
	for _, theme := range []string{"dark", "light"} {
		p, f := still(t, 80, 24, func(o *front.Options) { o.Theme = theme })
		p.route(tea.ColorProfileMsg{Profile: colorprofile.ANSI256})
		screens["approval-diff"](p, f)
		s := terminal.Draw(p.frameText(), 80, 24, colorprofile.ANSI256)
		signs, texts := map[string]terminal.Cell{}, map[string]terminal.Cell{}
		for y := range 24 {
			for x := range 10 {
				if c := s.Cell(x, y); (c.Text == "+" || c.Text == "-") && s.Cell(x-2, y).Text != "" && s.Cell(x-1, y).Text == " " && s.Cell(x+1, y).Text == " " {
					signs[c.Text], texts[c.Text] = c, s.Cell(x+2, y)
				}
			}
		}
		if signs["+"].FG == nil || signs["-"].FG == nil || signs["+"].FG == signs["-"].FG {
			t.Errorf("%s: the signs are %v and %v", theme, signs["+"], signs["-"])
		}
		if text, other := texts["+"], texts["-"]; text.FG == other.FG && text.BG == other.BG || theme == "dark" && text.BG != nil || theme == "light" && (text.BG == nil || text.BG == other.BG) {
			t.Errorf("%s: the texts are %v and %v", theme, text, other)
		}
		x, y, ok := s.Find("numbers []int")
		if word, beside := s.Cell(x, y), s.Cell(x+8, y); !ok || !word.Underline || word.BG != beside.BG {
			t.Errorf("%s: the word that differs is %+v beside %+v", theme, word, beside)
		}
	}
}

func TestNotificationsAreAsTheSettingSays(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string][2]bool{"": {true, true}, "auto": {true, true}, "bell": {false, true}, "off": {false, false}} {
		p, _ := still(t, 80, 24, func(o *front.Options) { o.Notifications = setting })
		p.blurred = true
		said := ""
		if cmd := p.outside.notify("jcode is done", "text"); cmd != nil {
			said = fmt.Sprint(cmd())
		}
		if got := [2]bool{strings.Contains(said, "777;notify;jcode is done;text"), strings.HasSuffix(said, "\x07}")}; got != want {
			t.Errorf("%q: notifies and rings %v, want %v: %q", setting, got, want, said)
		}
	}
}

// Names of servers and texts of the model end no sequence that the terminal is sent.
func TestNotificationsCarryNoSequencesOfOthers(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{"\x1b\\", "\x07", "\u009c", "\u009d0;x", "\x9c", "\r", "\n", ";", "\x1b]0;x\x07", "\x18", "\x1a", "\x00", "\u202e", "\x05"} {
		p, _ := still(t, 80, 24, func(o *front.Options) { o.Notifications = "auto" })
		p.blurred = true
		said := strings.Trim(fmt.Sprint(p.outside.notify("a"+evil+"b asks you", "c"+evil+"d")()), "{}")
		parts := strings.SplitAfter(said, "\x07")
		if len(parts) != 4 || !strings.HasPrefix(parts[0], "\x1b]9;") || !strings.HasPrefix(parts[1], "\x1b]777;notify;") || strings.Count(parts[1], ";") != 3 || strings.Count(said, "\x1b") != 2 {
			t.Errorf("%q: %q", evil, said)
		}
		if strings.ContainsAny(said, "\u009c\u009d\r\n\x18\x1a\x00\u202e\x05") {
			t.Errorf("%q: %q", evil, said)
		}
	}
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
	r.fake.Emit(event.TurnStart{Prompt: "x"})
	var b strings.Builder
	for i := range 60 {
		b.WriteString("line " + strconv.Itoa(i) + "\n\n")
	}
	r.fake.Emit(event.TextDelta{Text: b.String()}, event.AssistantMessage{Text: b.String()})
	r.see("line 59")
	r.Press("pgup")
	s := r.gone("line 59")
	first := s.Line(0)
	r.fake.Emit(event.Notice{Text: "news"}, event.Notice{Text: "more news"})
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
	branch := func(context.Context) string { return "main*" }
	r := run(t, 100, 12, func(o *front.Options) {
		o.Health, o.Branch = func() string { return "mcp 2/3" }, branch
		o.Home = "/code"
	}).ready()
	r.fake.Emit(event.Usage{Total: model.Usage{Input: 5}, Context: 64000, Window: 128000, Cost: 1.5, Priced: true})
	s := r.see("ask  test/model  (main*)  50%  $1.50  mcp 2/3", "~/project")
	if row := s.Line(s.Rows - 1); !strings.HasSuffix(strings.TrimRight(row, " "), "~/project") || len(strings.TrimRight(row, " ")) != 99 {
		t.Errorf("the folder is not on the right: %q", row)
	}
	r.fake.Emit(event.TurnStart{Prompt: "x"})
	r.see("esc stops")
	r.fake.Emit(event.TurnEnd{Reason: event.StopDone})
	r.gone("esc stops")
	r.Press("shift+tab")
	r.see("mode plan:")
}

// A person's command writes the whole line: it reads the state, its escapes do nothing, and it runs again after a turn.
func TestAPersonsCommandWritesTheStatusLine(t *testing.T) {
	t.Parallel()
	read := make(chan string, 10)
	r := run(t, 100, 12, func(o *front.Options) {
		o.Branch = func(context.Context) string { return "main" }
		o.StatusCommand = func(_ context.Context, state []byte) (string, error) {
			read <- string(state)
			return "\x1b[31mmine\x1b[m \x1b]0;title\a" + strconv.Itoa(len(read)) + "\nsecond", nil
		}
	})
	s := r.see("mine")
	if s.Contains("second") || s.Contains("test/model") {
		t.Errorf("more than the first line shows:\n%s", s.Text())
	}
	if state := <-read; !strings.Contains(state, `"model":"test/model"`) || !strings.Contains(state, `"branch":"main"`) || !strings.Contains(state, `"mode":"ask"`) {
		t.Errorf("the command read %s", state)
	}
	r.fake.Emit(event.TurnStart{Prompt: "x"}, event.TurnEnd{Reason: event.StopDone})
	r.until("it runs after the turn", func() bool { return len(read) > 0 })
}

// A command for the status line that takes too long is ended, and said once.
func TestASlowCommandForTheStatusLineIsEnded(t *testing.T) {
	t.Parallel()
	r := run(t, 100, 12, func(o *front.Options) {
		o.StatusCommand = func(ctx context.Context, _ []byte) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	}).ready()
	r.see("status_line: the command takes longer than 1s")
	r.see("test/model")
}

// Shift+Tab reaches plan with one press from the usual mode, and never yolo: from there it leads to the usual one.
func TestTheModeKeyReachesPlanFirstAndNeverYolo(t *testing.T) {
	t.Parallel()
	p, f := still(t, 80, 24, nil)
	for _, want := range []tools.Mode{tools.ModePlan, tools.ModeEdits, tools.ModeAuto, tools.ModeAsk, tools.ModePlan} {
		settleCmd(p, p.route(tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}))
		if got := f.State().Mode; got != want {
			t.Fatalf("mode %s, not %s", got, want)
		}
	}
	f.SetMode(tools.ModeYolo)
	p.state = f.State()
	settleCmd(p, p.route(tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}))
	if got := f.State().Mode; got != tools.ModeAsk {
		t.Errorf("after yolo: %s", got)
	}
}
