//go:build linux || darwin

package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/front"
	"jcode/tui/look"
	"jcode/tui/tuitest"
)

// TestAnythingAtAnySizeFits presses keys, emits events and changes the size at random: nothing panics, and each frame
// has exactly as many lines as the screen, none of them wider than a screen of 20 columns or more.
func TestAnythingAtAnySizeFits(t *testing.T) {
	keys := []string{"enter", "esc", "up", "down", "tab", "backspace", "ctrl+r", "ctrl+o", "ctrl+x", "ctrl+u", "ctrl+y", "ctrl+w", "a", "漢", "👩‍👩‍👧", " ", "/", "@", "n", "y", "w", "e", "/model", "/help", "/theme", "/resume", "/find a", "/diff", "/mode", "/todo", "/context", "/nope", "ctrl+c"}
	rapid.Check(t, func(rt *rapid.T) {
		fs := &tuitest.Sessions{}
		p, _ := still(t, 80, 24, func(o *front.Options) {
			goldenOptions(o)
			o.Sessions = fs
			o.Files = func(context.Context) ([]string, error) { return []string{"a.go", "b/漢字.go", "c d"}, nil }
			o.Changes = func(context.Context) ([]command.FileChange, error) {
				return []command.FileChange{{Path: "x.go", Diff: tuitest.Diff}}, nil
			}
		})
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 6).Draw(rt, "kind") {
			case 0:
				p.route(tea.WindowSizeMsg{Width: rapid.IntRange(1, 130).Draw(rt, "w"), Height: rapid.IntRange(1, 45).Draw(rt, "h")})
			case 1, 2, 3:
				press(p, rapid.SampledFrom(keys).Draw(rt, "key"))
			case 4:
				p.paste(strings.Repeat("pasted 漢字\tline\n", rapid.IntRange(1, 12).Draw(rt, "lines")))
			case 5:
				p.tr.ScrollAct(&p.look, rapid.SampledFrom([]look.Action{look.PageUp, look.PageDown, look.LineUp, look.LineDown, look.Top, look.Bottom, look.SelectPrev, look.SelectNext}).Draw(rt, "scroll"))
			case 6:
				stormEvent(p, rapid.IntRange(0, 8).Draw(rt, "event"))
			}
			frame := p.compose.build()
			lines := strings.Split(frame.Content, "\n")
			if len(lines) != p.height {
				rt.Fatalf("%d lines at %d×%d:\n%s", len(lines), p.width, p.height, tuitest.Stripped(frame.Content))
			}
			for _, l := range lines {
				if w := cells.Width(tuitest.Stripped(l)); p.width >= 20 && w > p.width { // below that the painter clips
					rt.Fatalf("a line of %d cells at %d×%d: %q", w, p.width, p.height, tuitest.Stripped(l))
				}
			}
			if c := frame.Cursor; c != nil && (c.X < 0 || c.Y < 0 || c.X >= p.width || c.Y >= p.height) {
				rt.Fatalf("cursor at %d,%d of %d×%d", c.X, c.Y, p.width, p.height)
			}
		}
	})
}

func stormEvent(p *program, n int) {
	switch n {
	case 0:
		conversation(p)
	case 1:
		q := tuitest.Question()
		q.Editable, q.Arguments, q.Diff = "cmd", tuitest.JSON("cmd", "x"), tuitest.Diff
		feed(p, event.ApprovalAsked{ID: "q", Question: q})
		for _, d := range p.stack.Asks {
			if a, ok := d.(*dialog.Approval); ok {
				a.Since, a.Open = time.Now(), true
			}
		}
	case 2:
		feed(p, event.AskPerson{ID: "a", Text: "which 漢字?", Options: []string{"one", "two"}})
		feed(p, event.AskForm{ID: "f", Form: tuitest.Form()})
		for _, d := range p.stack.Asks {
			switch d := d.(type) {
			case *dialog.Question:
				d.Open = true
			case *dialog.Form:
				d.Open = true
			}
		}
	case 3:
		feed(p, event.TurnStart{Prompt: "go", At: clock}, event.TextDelta{Text: sampleAnswer})
	case 4:
		feed(p, event.CallStart{ID: "c", Name: "mcp:server:a_very_long_tool_name_that_never_ends", Arguments: tuitest.JSON("a", strings.Repeat("漢", 200)), At: clock}, event.CallProgress{ID: "c", Output: strings.Repeat("out 漢\n", 9)})
	case 5:
		feed(p, event.AnswerReset{Reason: "cut"}, event.ApprovalClosed{ID: "q"}, event.AskClosed{ID: "a"}, event.AskClosed{ID: "f"})
	case 6:
		feed(p, event.TurnEnd{Reason: event.StopError, Error: "the provider said no"})
	case 7:
		feed(p, event.QueueChanged{Queued: []event.Queued{{Text: "q1"}, {Text: "q2"}, {Text: "q3"}, {Text: "q4"}, {Text: "q5"}}}, event.TodoChanged{Items: []tools.TodoItem{{Text: "x", Status: "in_progress"}, {Text: "y", Status: "pending"}}})
	case 8:
		feed(p, event.Rewound{From: 1}, event.Notice{Level: event.LevelError, Text: "bad 漢字"})
	}
}
