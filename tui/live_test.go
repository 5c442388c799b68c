//go:build linux || darwin

package tui

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/tui/front"
)

// otherSessions are sessions in the background that a test sets.
type otherSessions struct {
	lists chan []front.LiveSession
	shown chan int
	fails error
}

func (o *otherSessions) Next(ctx context.Context) ([]front.LiveSession, bool) {
	select {
	case l := <-o.lists:
		return l, true
	case <-ctx.Done():
		return nil, false
	}
}

func (o *otherSessions) Show(_ context.Context, s front.LiveSession) error {
	o.shown <- s.Process
	return o.fails
}

// TestTheStatusLineNamesTheSessionsInTheBackground in every width, as soon as there are two, and marks who asks.
func TestTheStatusLineNamesTheSessionsInTheBackground(t *testing.T) {
	t.Parallel()
	list := []front.LiveSession{
		{Process: 1, Folder: "/code/project", Title: "Retry in the client"},
		{Process: 2, Folder: "/code/api", Asks: true},
		{Process: 3, Folder: "/code/project", Here: true},
		{Process: 4, Folder: "/code/\x1b[31mdocs", Busy: true},
	}
	p, _ := still(t, 120, 24, nil)
	p.state.Title = "Pages"
	for _, c := range []struct {
		width int
		list  []front.LiveSession
		want  string
	}{
		{120, nil, ""},
		{120, list[2:3], ""}, // this one alone
		{120, list[1:2], "here · 1 api ?"},
		{120, list, "1 Retry in the client · 2 api ? · 3 Pages · 4 "},
		{80, list, "1 Retry… · 2 api ? · 3 Pages · 4 "},
		{66, list, "1 Re… · 2 api ? · 3 Pa… · 4 "},
		{30, list, "1 2 ? 3 4"},
	} {
		p.live = c.list
		p.resize(c.width, 24)
		line := ansi.Strip(p.compose.statusLine())
		if !strings.Contains(line, c.want) || c.want == "" && strings.Contains(line, " · ") || cells.Width(line) > c.width {
			t.Errorf("%d columns: %q, want %q", c.width, line, c.want)
		}
		if strings.Contains(p.compose.statusLine(), "\x1b[31m") {
			t.Error("a folder's name colours the terminal")
		}
	}
}

// TestAKeyShowsAnotherSessionWhateverIsOpen: also with a list in front, and what is in the way is said.
func TestAKeyShowsAnotherSessionWhateverIsOpen(t *testing.T) {
	t.Parallel()
	o := &otherSessions{lists: make(chan []front.LiveSession, 1), shown: make(chan int, 1)}
	r := run(t, 80, 24, func(opt *front.Options) { opt.Live = o })
	r.Press("alt+1")
	r.see("no session runs in the background")
	o.lists <- []front.LiveSession{{Process: 9, Folder: "/code/early"}} // it was asked for a moment ago
	r.until("the first one is shown", func() bool { return len(o.shown) == 1 })
	if got := <-o.shown; got != 9 {
		t.Errorf("process %d is shown", got)
	}
	o.lists <- []front.LiveSession{{Process: 11, Folder: "/code/api"}, {Process: 12, Folder: "/code/docs"}}
	r.see("here · 1 api · 2 docs")
	r.Press("f1")
	r.see("alt+1…9")
	r.Press("alt+2")
	r.until("the second one is shown", func() bool { return len(o.shown) == 1 })
	if got := <-o.shown; got != 12 {
		t.Errorf("process %d is shown", got)
	}
	r.Press("esc")
	r.gone("alt+1…9")
	o.fails = errors.New("a turn runs")
	r.Type("/live 1\r")
	r.see("Session 1 is not shown: a turn runs")
	r.Type("/live x\r")
	r.see("/live takes a number")
	if err := r.quit(); err != nil {
		t.Error(err)
	}
	if n := len(r.fake.Sent()); n != 0 {
		t.Errorf("%d prompts were sent", n)
	}
}

// TestTheHelpCutsNothing: in a narrow terminal its rows are wrapped, and all words of all of them can be read by going down.
func TestTheHelpCutsNothing(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 80} {
		p, _ := still(t, width, 20, nil)
		press(p, "f1")
		read := ""
		for range len(p.slashes.help()) {
			read += strings.Join(strings.Fields(ansi.Strip(p.frameText())), " ") + "\n"
			press(p, "down")
		}
		if strings.Contains(read, "…") && strings.Contains(strings.ReplaceAll(read, "alt+1…9", ""), "…") {
			t.Errorf("%d columns: something is cut:\n%s", width, read)
		}
		for _, r := range p.slashes.help() {
			for _, word := range strings.Fields(r.Name + " " + r.Info) {
				if !strings.Contains(read, word) {
					t.Errorf("%d columns: %q of %q can't be read", width, word, r.Name)
				}
			}
		}
	}
}

// TestACallThatAsksThePersonWaits: its row has no spinner meanwhile.
func TestACallThatAsksThePersonWaits(t *testing.T) {
	t.Parallel()
	p, _ := still(t, 80, 24, nil)
	feed(p, event.TurnStart{Prompt: "go"}, event.CallStart{ID: "c", Name: "ask", Arguments: json.RawMessage(`{"question": "Which?"}`)}, event.AskPerson{ID: "q", Text: "Which?"})
	if s := ansi.Strip(p.frameText()); !strings.Contains(s, "? ask Which?") || !strings.Contains(s, "waits for you") {
		t.Errorf("%s", s)
	}
	feed(p, event.AskClosed{ID: "q"})
	if s := ansi.Strip(p.frameText()); strings.Contains(s, "waits for you") {
		t.Errorf("answered: %s", s)
	}
}
