//go:build linux || darwin

package tui

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/terminal"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

func press(p *program, keys ...string) {
	for _, k := range keys {
		msg := tea.KeyPressMsg{Text: k}
		if r := []rune(k); len(r) == 1 {
			msg.Code = r[0]
		} else {
			msg = namedKey(k)
		}
		p.typing.last = time.Time{}
		settleCmd(p, p.route(msg))
	}
}

func namedKey(name string) tea.KeyPressMsg {
	switch name {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "up":
		return tea.KeyPressMsg{Code: tea.KeyUp}
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	case "tab":
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case "backspace":
		return tea.KeyPressMsg{Code: tea.KeyBackspace}
	}
	if c, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: []rune(c)[0], Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Text: name, Code: tea.KeyExtended}
}

func TestTabsInTheInputAreSent(t *testing.T) {
	t.Parallel()
	p, f := still(t, 80, 24, nil)
	p.paste("if x {\n\treturn\n}")
	press(p, "enter")
	if got := f.Sent(); len(got) != 1 || got[0] != "if x {\n\treturn\n}" {
		t.Errorf("sent %q", got)
	}
}

func TestViKeysMoveAndChange(t *testing.T) {
	t.Parallel()
	p, f := still(t, 80, 24, func(o *front.Options) { o.Vi = true })
	press(p, "one two three", "esc", "b", "d", "w", "0", "x", "A", "!", "esc", "d", "b", "u")
	if got := p.in.Text(); got != "ne two !" {
		t.Errorf("text %q", got)
	}
	press(p, "d", "d", "i", "i", "j", "enter")
	if got := f.Sent(); len(got) != 1 || got[0] != "ij" {
		t.Errorf("sent %q", got)
	}
}

func TestViModesShow(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, func(o *front.Options) { o.Vi = true }).ready()
	r.Type("one two")
	r.see("› one two")
	r.Press("esc")
	r.see(" normal ──")
	r.Type("2d")
	r.see(" normal 2d ──")
	r.Press("esc")
	r.see(" normal ──")
	r.Type("vb")
	r.see(" visual ──")
	if _, err := r.Wait(tuitest.Limit, func(s terminal.Screen) bool {
		x, y, ok := s.Find("two")
		return ok && s.Cell(x, y).Reverse && s.Cell(x+2, y).Reverse && !s.Cell(x-2, y).Reverse
	}); err != nil {
		t.Errorf("not just the selection is marked: %v", err)
	}
	r.Type("cTWO")
	r.see("› one TWO")
	r.gone("visual")
	r.Press("esc")
	r.see(" normal ──")
	r.Type("u")
	r.see("› one two")
	r.Press("enter")
	r.until("the prompt is sent", func() bool { return len(r.fake.Sent()) == 1 })
	r.Type("dd")
	r.see("› dd") // a new prompt starts in insert mode, whatever the mode was
}

func TestTheCursorStaysInTheInputWhateverElseIsWritten(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	at := func() (x, y int) { s := r.Screen(); return s.CursorX, s.CursorY }
	r.until("cursor in the input", func() bool { x, y := at(); return x == 2 && y > 0 })
	_, row := at()
	// Bubble Tea draws its blank frame and queries the terminal one second after the start.
	eventually.Never(t, 2500*time.Millisecond, "the cursor leaves the input", func() bool {
		s := r.Settle(30*time.Millisecond, time.Second)
		return s.CursorX != 2 || s.CursorY != row
	})
}

func TestAKeyIsWhatItIsOnAnyLayout(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	if !strings.Contains(r.Output(), "\x1b[>5u") {
		t.Error("alternate keys are not asked for")
	}
	r.Type("слово")
	r.see("› слово")
	r.Type("\x1b[1089::99;5u") // Ctrl+C
	r.see("ask for something")
	r.Type("слово")
	r.see("› слово")
	r.Type("\x1b[1089;5u") // the same without the alternate key
	r.see("ask for something")
	r.fake.Emit(event.ApprovalAsked{ID: "q1", Question: tuitest.Question()})
	r.see("y once")
	r.Type("н") // the key that types y on a Latin layout
	r.until("answer", func() bool { a, ok := r.fake.Answered("q1"); return ok && a.Scope == tools.AnswerOnce })
}

func TestPiecesOfReportsNeverBecomeText(t *testing.T) {
	t.Parallel()
	for deadline := time.Now().Add(tuitest.Limit); ; {
		shown, longest := writtenInPieces(t)
		if shown.Contains("› 漢end") {
			return
		}
		// If the machine stops for that long inside a report, the pieces arrive as keys.
		if longest < 800*time.Millisecond || time.Now().After(deadline) {
			t.Fatalf("something was typed, the longest pause was %s:\n%s", longest, shown.Text())
		}
	}
}

// writtenInPieces writes reports and a character in two pieces each, then "end", and returns the
// screen and the longest time between two pieces.
func writtenInPieces(t *testing.T) (s terminal.Screen, longest time.Duration) {
	t.Helper()
	r := run(t, 80, 24, nil).ready()
	r.Type("x")
	r.see("› x") // by now the terminal has replied to the queries sent at the start
	r.Press("backspace")
	r.see("ask for something")
	for _, seq := range [][2]string{{"\x1b]11;rgb:0000/0000/0000\x1b", "\\"}, {"\x1b]11;rgb:00", "00/0000/0000\a"}, {"\x1b[<35;1", "0;10M"}, {"\x1b[", "I"}, {"\xe6\xbc", "\xa2"}} {
		began := time.Now()
		r.Type(seq[0])
		time.Sleep(120 * time.Millisecond) // the pause is what is tested
		r.Type(seq[1])
		longest = max(longest, time.Since(began))
	}
	r.Type("end")
	return r.see("end"), longest
}

func TestAPasteThatLostItsEndLeavesTheKeyboardAlive(t *testing.T) {
	t.Parallel()
	r := run(t, 80, 24, nil).ready()
	r.Type("\x1b[200~lost")
	r.see("› lost") // the paste is ended by the reader
	r.Type("!")
	r.see("› lost!")
	r.Type("\x1b[200~again")
	r.Type("\x03") // Ctrl+C ends it and clears the input
	r.see("ask for something")
	r.Type("draft")
	r.see("› draft")
	r.Type("\x1b[200~once more\x03") // a busy program reads both at once
	r.see("ask for something")
}

func TestAPasteGoesToTheInputWhileAQuestionIsOpen(t *testing.T) {
	t.Parallel()
	p, f, a := asked(t, 80, 24, tuitest.Question())
	p.in.SetText("a draft ")
	p.paste("pasted\ntext")
	if got := p.in.Text(); got != "a draft pasted\ntext" {
		t.Errorf("the input holds %q", got)
	}
	if a.Open {
		t.Error("an Enter right behind the paste answers the question")
	}
	if _, ok := f.Answered("q"); ok {
		t.Error("the paste answers")
	}
	press(p, "ctrl+t") // turns to the question
	press(p, "w")
	p.paste("because")
	if got := a.Word.Editor.Text(); got != "because" {
		t.Errorf("the word is %q", got)
	}
	v := dialog.NewTrust(command.Trust{Folder: "/x"})
	p, _ = still(t, 80, 24, nil)
	p.ask(v)
	v.Open = true
	if p.paste("draft"); p.in.Text() != "draft" {
		t.Errorf("the input holds %q", p.in.Text())
	}
}

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
	s, err := r.Wait(tuitest.Limit, func(s terminal.Screen) bool { return strings.HasSuffix(lineWith(s, "› a"), "a👩‍👩‍👧") })
	if err != nil {
		t.Fatal(err)
	}
	r.Press("backspace")
	if _, err := r.Wait(tuitest.Limit, func(s terminal.Screen) bool { return strings.HasSuffix(lineWith(s, "› a"), "› a") }); err != nil {
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
	if len(r.fake.Sent()) != 0 {
		t.Fatal("the paste was sent")
	}
	r.Press("enter")
	r.until("prompt", func() bool { return len(r.fake.Sent()) == 1 })
	if r.fake.Sent()[0] != text {
		t.Errorf("%d bytes were sent, want %d", len(r.fake.Sent()[0]), len(text))
	}
	r.Press("up") // the history contains the real text
	r.see("[Pasted text #2: 10000 lines · ctrl+x]")
	r.Press("enter")
	r.until("second prompt", func() bool { return len(r.fake.Sent()) == 2 })
	if r.fake.Sent()[1] != text {
		t.Error("what came back from the history is not what was sent")
	}
}

func TestFastKeysAreOnePaste(t *testing.T) {
	lines := make([]string, 2000)
	for i := range lines {
		lines[i] = "line " + strconv.Itoa(i)
	}
	for deadline := time.Now().Add(tuitest.Limit); ; {
		sent, pause := sentByFastKeys(t, strings.Join(lines, "\r"))
		if len(sent) == 1 && sent[0] == strings.Join(lines, "\n") {
			return
		}
		// If the machine pauses in the middle, a line end is taken for a person's Enter.
		if pause < burstWait || time.Now().After(deadline) {
			t.Fatalf("%d prompts were sent, the longest pause between keys was %s", len(sent), pause)
		}
	}
}

// sentByFastKeys types a text whose last line is "line 1999" without pauses, then Enter. It returns the prompts that
// were sent and the longest pause between two keys before that Enter.
func sentByFastKeys(t *testing.T, text string) (sent []string, pause time.Duration) {
	t.Helper()
	var mu sync.Mutex
	var last time.Time
	var longest time.Duration // guarded by mu
	r := run(t, 80, 24, func(o *front.Options) {
		o.Observe = func(msg any) {
			if _, ok := msg.(tea.KeyPressMsg); !ok {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			now := time.Now()
			if !last.IsZero() {
				longest = max(longest, now.Sub(last))
			}
			last = now
		}
	}).ready()
	r.Type(text)
	r.see("line 1999")
	mu.Lock()
	pause = longest
	mu.Unlock()
	time.Sleep(pasteGap + burstWait)
	r.Press("enter")
	r.until("prompt", func() bool { return len(r.fake.Sent()) > 0 })
	return r.fake.Sent(), pause
}

func TestTypedAndSentInOneWrite(t *testing.T) {
	r := run(t, 80, 24, nil).ready()
	r.Type("hello\r")
	r.until("prompt", func() bool { return len(r.fake.Sent()) == 1 })
	if got := r.fake.Sent()[0]; got != "hello" {
		t.Errorf("sent %q", got)
	}
}
