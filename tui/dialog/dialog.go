package dialog

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/tui/editor"
	"jcode/tui/look"
)

// Pos is a cell of a dialog's drawing: row and column count from 0.
type Pos struct{ Row, Col int }

// Dialog replaces the input for a while: a question, a picker, the help.
type Dialog interface {
	// Armed reports whether it receives keys. A dialog that opens by itself does not, as long as the person is
	// still typing what was meant for the input.
	Armed(now time.Time) bool
	// Key handles a key; act is its action in the key table, or "".
	Key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd
	// Draw returns at most height lines and, for a text field, the position of the cursor.
	Draw(l *look.Look, width, height int) (lines []string, cursor *Pos)
}

// background runs work outside the program's loop; the func that it returns runs inside.
type background interface {
	Background(work func(ctx context.Context) Do) tea.Cmd
}

// desk is what the actions of a list need.
type desk interface {
	background
	Say(level event.Level, msg string)
	Open(d Dialog)
	Close(d Dialog)
}

// host is everything that a dialog needs from the program.
type host interface {
	// Say shows a line in the transcript, flash a few words for a moment.
	Say(level event.Level, msg string)
	Flash(msg string)
	// Open puts another dialog in front; close removes one, aside puts a question away until the person wants it.
	Open(d Dialog)
	Close(d Dialog)
	Aside(d Dialog)
	// Background runs work outside the loop; the func that it returns runs inside.
	Background(work func(ctx context.Context) Do) tea.Cmd
	// Act performs an action outside of dialogs.
	Act(a look.Action) tea.Cmd
	// Busy reports whether a turn runs; interrupt stops it.
	Busy() bool
	Interrupt()
	// Insert writes text that was typed into the input.
	Insert(s string)
	// SwitchDiffs switches between the two ways of drawing this diff.
	SwitchDiffs(src string, width int)
}

// Optional interfaces that some dialogs implement.
type (
	// Guarded is a dialog that opens by itself: it ignores keys that were meant for the input.
	Guarded interface {
		Dialog
		// shown records when it came to the front, and when the last key before was pressed.
		shown(now, typed time.Time)
		// touch records a key that went to the input.
		Touch(now time.Time)
		// disarm makes it wait for a pause again.
		Disarm(now time.Time)
		// turn makes it take every key, and attended says that it does: the person turned to it.
		Turn()
		Attended() bool
		// owns reports whether a field of it is open that takes every key, takesText whether it has fields at all.
		Owns() bool
		TakesText() bool
		// settle handles the key after a letter that answers.
		Settle(h host, k tea.KeyPressMsg, act look.Action) (done bool, cmd tea.Cmd)
	}
	// Pasteable accepts a paste; false leaves it to the input.
	Pasteable interface{ Paste(s string) bool }
	// Animated is a dialog that is currently moving by itself.
	Animated interface{ Moving() bool }
	// Wheeled is a dialog that the mouse wheel scrolls, n lines down, while the pointer is on it.
	Wheeled interface{ Wheel(h host, n int) }
	// Lasting is a dialog that does not belong to the session: it stays when the session is left.
	Lasting interface{ outlasts() }
)

// Which dialogs implement which interface.
var (
	_ = []Guarded{(*Approval)(nil), (*Question)(nil), (*Form)(nil), (*Plan)(nil), (*Trust)(nil)}
	_ = []Pasteable{(*Approval)(nil), (*Question)(nil), (*Form)(nil), (*Picker)(nil), (*Help)(nil), (*Changes)(nil), (*Entry)(nil)}
	_ = []Animated{(*Approval)(nil), (*Entry)(nil)}
	_ = []Wheeled{(*Approval)(nil), (*Question)(nil), (*Trust)(nil), (*Picker)(nil), (*Help)(nil), (*Changes)(nil), (*page)(nil)}
	_ = []Lasting{(*Trust)(nil)}
)

// Stack holds the dialogs that are open.
type Stack struct {
	Dialogs []Dialog // opened by the person; the last one has the keys
	Asks    []Dialog // questions to the person; the first one has the keys
	Later   []Dialog // questions that were put aside
}

// Questions returns all questions that are not answered.
func (s *Stack) Questions() []Dialog { return slices.Concat(s.Asks, s.Later) }

// Front returns the dialog that is drawn, or nil.
func (s *Stack) Front() Dialog {
	if n := len(s.Dialogs); n > 0 {
		return s.Dialogs[n-1]
	}
	if len(s.Asks) > 0 {
		return s.Asks[0]
	}
	return nil
}

// Remove takes a dialog away.
func (s *Stack) Remove(d Dialog) {
	closed := func(x Dialog) bool { return x == d }
	s.Dialogs = slices.DeleteFunc(slices.Clone(s.Dialogs), closed) // clones: a loop over them may remove one
	s.Asks = slices.DeleteFunc(slices.Clone(s.Asks), closed)
	s.Later = slices.DeleteFunc(slices.Clone(s.Later), closed)
}

// PutAside puts a question away until the person asks for it.
func (s *Stack) PutAside(d Dialog) {
	s.Asks = slices.DeleteFunc(s.Asks, func(x Dialog) bool { return x == d })
	s.Later = append(s.Later, d)
}

// Bring shows the first question that was put aside again. It takes keys at once.
func (s *Stack) Bring() {
	d := s.Later[0]
	s.Later = slices.Clone(s.Later[1:])
	s.Asks = append([]Dialog{d}, s.Asks...)
	if q, ok := d.(Guarded); ok {
		q.Turn()
	}
}

// ShowFront tells a question that it is in front, and when the last key before was pressed.
func (s *Stack) ShowFront(typed time.Time) {
	if q, ok := s.Front().(Guarded); ok {
		q.shown(time.Now(), typed)
	}
}

// answerRow returns one answer of a question: its key and its label, in full. The one that Enter takes is
// marked over the whole width.
func answerRow(l *look.Look, chosen bool, key, label string, width int) []string {
	mark, style := "   ", cells.Style("")
	if chosen {
		mark, style = " › ", l.Theme.Selected
	}
	var out []string
	first := []cells.Span{{Text: mark + key + "  ", Style: style.With(l.Theme.Strong)}}
	indent := cells.SpansWidth(first)
	for _, spans := range cells.Wrap([]cells.Span{{Text: label, Style: style}}, max(width-indent-1, 1)) {
		row := append(first, spans...)
		if chosen {
			row = look.Filled(row, style, width)
		}
		out = append(out, cells.Render(look.Clip(row, width)))
		first = []cells.Span{{Text: cells.Blank(indent), Style: style}}
	}
	return out
}

// answerLine is answerRow in one row: a label that is too long is cut in its middle, and whole is false.
func answerLine(l *look.Look, chosen bool, key, label string, width int) (row string, whole bool) {
	fitted := cells.FitMiddle(label, max(width-6-cells.Width(key), 1))
	rows := answerRow(l, chosen, key, fitted, width)
	return rows[0], fitted == label
}

// field is a line of text in a dialog.
type field struct{ Editor *editor.Editor }

func NewField() field { return field{editor.New()} }

// key edits the field and reports whether the key was for it.
func (f field) key(k tea.KeyPressMsg, act look.Action) bool {
	if f.Editor.Do(editor.Command(act)) {
		return true
	}
	if act == "" && k.Text != "" {
		f.Editor.Insert(Typed(k.Text))
		return true
	}
	return false
}

// draw returns the field after its label, and the cursor's column.
func (f field) draw(l *look.Look, label string, width int) (line string, x int) {
	shown, at := f.Editor.Line(max(width-cells.Width(label)-1, 1))
	return cells.Paint(l.Theme.Accent, label) + shown, cells.Width(label) + at
}

func (f field) Paste(s string) { f.Editor.Insert(look.OneLine(s)) }

// Do is a message that carries what must be done with the result of work outside the loop.
type Do func() tea.Cmd

// Fetch runs work outside the loop; then receives its result inside.
func Fetch[T any](h background, work func(ctx context.Context) (T, error), then func(got T, err error) tea.Cmd) tea.Cmd {
	return h.Background(func(ctx context.Context) Do {
		got, err := work(ctx)
		return func() tea.Cmd { return then(got, err) }
	})
}

// asideHints are the keys of a question while the input holds text.
func asideHints(l *look.Look, width int) string {
	return look.Hints(l, width, "enter", "sends what you wrote", "ctrl+t", "or ↑↓ to answer")
}

// Typed removes control characters from the text of a key.
func Typed(s string) string {
	if s == "\t" {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

func (pk *Picker) Wheel(h host, n int) {
	if pk.writing != nil {
		return // it is about the row that is marked
	}
	act := look.Down
	if n < 0 {
		act = look.Up
	}
	for range 3 {
		if at := pk.at; n < 0 && at == 0 || n > 0 && at >= len(pk.shown)-1 {
			return // the wheel does not wrap around
		}
		pk.moveKey(h, act)
	}
}

// Wheel scrolls by lines, as in the dialogs below; drawing keeps the position inside the text.
func (d *Changes) Wheel(_ host, n int) { d.scroll = max(d.scroll+n, 0) }

func (a *Approval) Wheel(_ host, n int) { a.Text.move(n) }

func (q *Question) Wheel(_ host, n int) { q.text.move(n) }

func (v *Trust) Wheel(_ host, n int) { v.text.move(n) }
