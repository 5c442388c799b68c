//go:build linux || darwin

package tui

import (
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tools"
	"jcode/tui/dialog"
	"jcode/tui/tuitest"
)

// opened returns a program that shows a form which accepts keys.
func opened(t *testing.T, ask tools.Form) (*program, *tuitest.Conversation, *dialog.Form) {
	t.Helper()
	p, f := still(t, 80, 24, nil)
	feed(p, event.AskForm{ID: "f", Form: ask})
	d := p.stack.Asks[0].(*dialog.Form)
	d.Open = true
	return p, f, d
}

func arrow(p *program, code rune) {
	settleCmd(p, p.route(tea.KeyPressMsg{Code: code}))
}

func TestFormIsFilledIn(t *testing.T) {
	t.Parallel()
	p, f, _ := opened(t, tuitest.Form())
	press(p, "A", "d", "a", "enter") // the name
	press(p, "enter")                // the mail stays as it is
	press(p, "backspace", "4", "down")
	press(p, " ") // a window seat in addition to the meal
	arrow(p, tea.KeyRight)
	arrow(p, tea.KeyRight)
	press(p, " ", "enter") // and the quiet coach
	arrow(p, tea.KeyLeft)  // first class
	press(p, "enter", "n") // no return ticket
	press(p, "tab", "tab") // the price stays empty
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "› send ‹") {
		t.Fatalf("the cursor is not on send:\n%s", s)
	}
	press(p, "enter")
	want := tools.FormAnswer{Action: tools.FormAccept, Values: map[string]any{
		"name": "Ada", "mail": "ada@example.com", "seats": 4.0, "extras": []string{"w", "m", "q"}, "class": "1", "back": false,
	}}
	if got := f.Filled["f"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if len(p.stack.Asks) != 0 {
		t.Error("the form is still open")
	}
	if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, "You answered MCP server travel: Name, E-mail, seats") {
		t.Errorf("it is not said:\n%s", s)
	}
}

func TestFormStaysUntilItIsRight(t *testing.T) {
	t.Parallel()
	p, f, d := opened(t, tuitest.Form())
	press(p, "x", "enter") // one character
	if s := tuitest.Stripped(p.frameText()); d.At != 0 || !strings.Contains(s, "✗ must have at least 2 characters") {
		t.Errorf("field %d:\n%s", d.At, s)
	}
	press(p, "y", "enter", "down", "backspace", "x", "up", "up", "up", "up")
	if !d.OnSend() {
		t.Fatalf("the cursor is on %d", d.At)
	}
	press(p, "enter")
	if s := tuitest.Stripped(p.frameText()); d.At != 2 || !strings.Contains(s, "✗ must be a whole number") {
		t.Errorf("field %d:\n%s", d.At, s)
	}
	if _, sent := f.Filled["f"]; sent {
		t.Error("a form that is wrong was sent")
	}
	press(p, "backspace", "7", "up", "up", "up", "up", "enter")
	if got := f.Filled["f"]; got.Values["seats"] != 7.0 || got.Values["name"] != "xy" {
		t.Errorf("%+v", got)
	}
}

func TestFormIsDeclinedOrCancelled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []string
		busy bool
		want tools.FormAction
		stop int
	}{
		"decline":                {[]string{"up", "enter"}, true, tools.FormDecline, 0},
		"esc":                    {[]string{"esc"}, true, tools.FormCancel, 0},
		"ctrl+c":                 {[]string{"ctrl+c"}, false, tools.FormCancel, 0},
		"ctrl+c, a turn runs":    {[]string{"ctrl+c"}, true, "", 1},
		"nothing but the fields": {[]string{"a", "enter"}, true, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			p, f, _ := opened(t, tuitest.Form())
			p.turn.busy = c.busy
			press(p, c.keys...)
			if got := f.Filled["f"]; got.Action != c.want || got.Values != nil || f.Stopped != c.stop {
				t.Errorf("%+v, stopped %d times", got, f.Stopped)
			}
			if c.want == tools.FormDecline && !strings.Contains(tuitest.Stripped(p.frameText()), "You declined to answer MCP server travel.") {
				t.Errorf("it is not said:\n%s", tuitest.Stripped(p.frameText()))
			}
		})
	}
}

func TestFormIgnoresWhatWasTypedBeforeItAppeared(t *testing.T) {
	t.Parallel()
	p, f := still(t, 80, 24, nil)
	p.typing.last = time.Now()
	feed(p, event.AskForm{ID: "f", Form: tuitest.Form()})
	for _, k := range []string{"h", "i", "enter"} {
		msg := tea.KeyPressMsg{Text: k, Code: rune(k[0])}
		if k == "enter" {
			msg = namedKey(k)
		}
		settleCmd(p, p.route(msg))
	}
	if d := p.stack.Asks[0].(*dialog.Form); d.At != 0 || d.Fields[0].Touched || len(f.Filled) != 0 {
		t.Error("the form took keys that were meant for the input")
	}
}

func TestFormClosesWithItsCall(t *testing.T) {
	t.Parallel()
	p, f, _ := opened(t, tuitest.Form())
	feed(p, event.AskClosed{ID: "another"})
	if len(p.stack.Asks) != 1 {
		t.Fatal("closed by another")
	}
	feed(p, event.AskClosed{ID: "f"})
	if len(p.stack.Asks) != 0 || len(f.Filled) != 0 {
		t.Error("the form stays when nobody waits for it")
	}
}

// On a small screen every field can be reached and seen.
func TestFormShowsTheFieldAtTheCursor(t *testing.T) {
	t.Parallel()
	p, _, d := opened(t, tuitest.Form())
	p.resize(40, 12)
	for i := range len(d.Fields) + 2 {
		want := []string{"send", "decline"}[max(i-len(d.Fields), 0)]
		if i < len(d.Fields) {
			want = "› " + d.Fields[i].Label
		}
		if s := tuitest.Stripped(p.frameText()); !strings.Contains(s, want) {
			t.Errorf("place %d: no %q in\n%s", i, want, s)
		}
		press(p, "tab")
	}
}

func TestFormWithOddFields(t *testing.T) {
	t.Parallel()
	ask := tools.Form{From: "MCP server odd", Fields: []tools.FormField{
		{Name: "no options", Kind: tools.FieldChoice, Required: true},
		{Name: "some of nothing", Kind: tools.FieldChoices},
		{Name: strings.Repeat("漢字", 40), Title: "a\nb\x1b[2J", Description: strings.Repeat("long ", 100), Kind: tools.FieldBoolean, Required: true},
		{Name: "default that is none", Kind: tools.FieldChoice, Options: []string{"a"}, Default: "z"},
	}}
	p, f, _ := opened(t, ask)
	press(p, "x", "down", "b", ",", "c", "down", "y", "down", "a", "down")
	if s := p.frameText(); strings.Contains(s, "\x1b[2J") {
		t.Error("control sequences of a label reach the terminal")
	}
	press(p, "enter")
	want := map[string]any{"no options": "x", "some of nothing": []string{"b", "c"}, strings.Repeat("漢字", 40): true, "default that is none": "a"}
	if got := f.Filled["f"]; !reflect.DeepEqual(got.Values, want) {
		t.Errorf("%+v", got)
	}
	empty, f, _ := opened(t, tools.Form{From: "MCP server s", Text: "Go on?"})
	press(empty, "enter")
	if got, ok := f.Filled["f"]; ok {
		t.Errorf("enter answers although nothing was chosen: %+v", got)
	}
	press(empty, "down", "enter")
	if got := f.Filled["f"]; got.Action != tools.FormAccept || len(got.Values) != 0 {
		t.Errorf("a form without fields: %+v", got)
	}
}
