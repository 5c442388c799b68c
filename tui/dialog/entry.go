package dialog

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/cells"
	"jcode/tools/command"
	"jcode/tui/look"
)

// Entry is a field for an API key, which is never shown, or an address.
type Entry struct {
	Title, Hint string
	Asking      string // who is asked with what was entered
	Field       field
	Secret      bool // shown as dots
	Empty       bool // an empty answer is allowed, too
	note        string
	left        bool
	busy        bool // a request is running
	Enter       func(ctx context.Context, s string) (command.Row, error)
	Find        func(ctx context.Context, s string) (string, error) // completes what was entered, before next; may be nil
	Next        func(s string) *Entry                               // what is asked next, instead of enter
	Then        func(r command.Row) tea.Cmd
}

func (k *Entry) Armed(time.Time) bool { return true }

func (k *Entry) Moving() bool { return k.busy }

func (k *Entry) Paste(s string) bool { k.Field.Paste(strings.TrimSpace(s)); return true }

func (k *Entry) Key(h host, press tea.KeyPressMsg, act look.Action) tea.Cmd {
	switch act {
	case look.Interrupt, look.Cancel:
		k.left = true
		h.Close(k)
	case look.Submit:
		return k.submit(h)
	default:
		if !k.busy {
			k.Field.key(press, act)
		}
	}
	return nil
}

// submit validates what was entered, or continues with what is asked next.
func (k *Entry) submit(h host) tea.Cmd {
	s := strings.TrimSpace(k.Field.Editor.Text())
	switch {
	case k.busy, s == "" && !k.Empty:
		return nil
	case k.Next != nil && k.Find == nil:
		h.Open(k.Next(s))
		return nil
	}
	k.busy, k.note = true, "asking "+k.Asking+" …"
	if k.Next != nil {
		find := func(ctx context.Context) (string, error) { return k.Find(ctx, s) }
		return Fetch(h, find, func(found string, err error) tea.Cmd {
			k.busy, k.note = false, ""
			switch {
			case k.left:
			case err != nil:
				k.note = "✗ " + err.Error() // what was entered stays, to be put right
			default:
				h.Open(k.Next(found))
			}
			return nil
		})
	}
	enter := func(ctx context.Context) (command.Row, error) { return k.Enter(ctx, s) }
	return Fetch(h, enter, func(row command.Row, err error) tea.Cmd {
		k.busy = false
		if k.left {
			return nil
		}
		if err != nil {
			k.note = "✗ " + err.Error()
			k.Field = NewField()
			return nil
		}
		h.Close(k)
		return k.Then(row)
	})
}

func (k *Entry) Draw(l *look.Look, width, height int) (lines []string, cursor *Pos) {
	lines = append(lines, look.TitleRule(l, k.Title, width, l.Theme.Accent))
	label := " address: "
	if k.Secret {
		label = " key: "
	}
	at := Pos{1, 0}
	if k.Secret {
		n := k.Field.Editor.Len()
		at.Col = min(cells.Width(label)+n, width-1)
		lines = append(lines, cells.Paint(l.Theme.Accent, label)+cells.Fit(strings.Repeat("•", n), max(width-cells.Width(label)-1, 0)))
	} else {
		line, x := k.Field.draw(l, label, width)
		at.Col = x
		lines = append(lines, line)
	}
	note, style := k.Hint, l.Theme.Faint
	switch {
	case k.busy:
		note = l.Spinner() + " " + k.note
	case k.note != "":
		note, style = k.note, l.Theme.Bad
	}
	body := look.Wrapped(note, style, " ", width)
	lines = append(lines, body[:min(len(body), max(height-3, 0))]...)
	return append(lines, look.Hints(l, width, "enter", "go on", "esc", "back")), &at
}
