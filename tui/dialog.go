package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/tui/editor"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// pos is a cell of a dialog's drawing: row and column count from 0.
type pos struct{ row, col int }

// dialog replaces the input for a while: a question, a picker, the help.
type dialog interface {
	// armed reports whether it receives keys. A dialog that opens by itself does not, as long as the person is
	// still typing what was meant for the input.
	armed(now time.Time) bool
	// key handles a key; act is its action in the key table, or "".
	key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd
	// draw returns at most height lines and, for a text field, the position of the cursor.
	draw(l *look.Look, width, height int) (lines []string, cursor *pos)
}

// host is everything that a dialog needs from the program.
type host interface {
	// say shows a line in the transcript, flash a few words for a moment.
	say(level event.Level, msg string)
	flash(msg string)
	// open puts another dialog in front; close removes one, aside puts a question away until the person wants it.
	open(d dialog)
	close(d dialog)
	aside(d dialog)
	// background runs work outside the loop; the func that it returns runs inside.
	background(work func(ctx context.Context) do) tea.Cmd
	// act performs an action outside of dialogs.
	act(a look.Action) tea.Cmd
	// busy reports whether a turn runs; interrupt stops it.
	busy() bool
	interrupt()
	// insert writes text that was typed into the input.
	insert(s string)
	// switchDiffs switches between the two ways of drawing this diff.
	switchDiffs(src string, width int)
}

// Optional interfaces that some dialogs implement.
type (
	// guarded is a dialog that opens by itself: it ignores keys that were meant for the input.
	guarded interface {
		dialog
		// shown records when it came to the front, and when the last key before was pressed.
		shown(now, typed time.Time)
		// touch records a key that went to the input.
		touch(now time.Time)
		// disarm makes it wait for a pause again.
		disarm(now time.Time)
		// turn makes it take every key, and attended says that it does: the person turned to it.
		turn()
		attended() bool
		// owns reports whether a field of it is open that takes every key, takesText whether it has fields at all.
		owns() bool
		takesText() bool
		// settle handles the key after a letter that answers.
		settle(h host, k tea.KeyPressMsg, act look.Action) (done bool, cmd tea.Cmd)
	}
	// pasteable accepts a paste; false leaves it to the input.
	pasteable interface{ paste(s string) bool }
	// animated is a dialog that is currently moving by itself.
	animated interface{ moving() bool }
	// wheeled is a dialog that the mouse wheel scrolls, n lines down, while the pointer is on it.
	wheeled interface{ wheel(h host, n int) }
	// lasting is a dialog that does not belong to the session: it stays when the session is left.
	lasting interface{ outlasts() }
)

// Which dialogs implement which interface.
var (
	_ = []guarded{(*approval)(nil), (*question)(nil), (*form)(nil), (*planView)(nil), (*trustView)(nil)}
	_ = []pasteable{(*approval)(nil), (*question)(nil), (*form)(nil), (*picker)(nil), (*helpView)(nil), (*diffView)(nil), (*keyEntry)(nil)}
	_ = []animated{(*approval)(nil), (*keyEntry)(nil)}
	_ = []wheeled{(*approval)(nil), (*question)(nil), (*trustView)(nil), (*picker)(nil), (*helpView)(nil), (*diffView)(nil), (*page)(nil)}
	_ = []lasting{(*trustView)(nil)}
)

// dialogStack holds the dialogs that are open.
type dialogStack struct {
	dialogs []dialog // opened by the person; the last one has the keys
	asks    []dialog // questions to the person; the first one has the keys
	later   []dialog // questions that were put aside
}

// questions returns all questions that are not answered.
func questions(s *dialogStack) []dialog { return slices.Concat(s.asks, s.later) }

// front returns the dialog that is drawn, or nil.
func (s *dialogStack) front() dialog {
	if n := len(s.dialogs); n > 0 {
		return s.dialogs[n-1]
	}
	if len(s.asks) > 0 {
		return s.asks[0]
	}
	return nil
}

// open puts a dialog in front.
func (p *program) open(d dialog) {
	p.complete.menu.close()
	p.dialogs = append(p.dialogs, d)
}

// close removes a dialog.
func (p *program) close(d dialog) {
	closed := func(x dialog) bool { return x == d }
	p.dialogs = slices.DeleteFunc(slices.Clone(p.dialogs), closed) // clones: a loop over them may close one
	p.asks = slices.DeleteFunc(slices.Clone(p.asks), closed)
	p.later = slices.DeleteFunc(slices.Clone(p.later), closed)
	showFront(p)
}

// ask queues a question that opened by itself.
func (p *program) ask(d dialog) {
	p.asks = append(p.asks, d)
	showFront(p)
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
	for _, spans := range cells.Wrap([]cells.Span{{Text: label, Style: style}}, max(width-indent, 1)) {
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
	fitted := cells.FitMiddle(label, max(width-5-cells.Width(key), 1))
	rows := answerRow(l, chosen, key, fitted, width)
	return rows[0], fitted == label
}

// field is a line of text in a dialog.
type field struct{ ed *editor.Editor }

func newField() field { return field{editor.New()} }

// key edits the field and reports whether the key was for it.
func (f field) key(k tea.KeyPressMsg, act look.Action) bool {
	if f.ed.Do(editor.Command(act)) {
		return true
	}
	if act == "" && k.Text != "" {
		f.ed.Insert(typed(k.Text))
		return true
	}
	return false
}

// draw returns the field after its label, and the cursor's column.
func (f field) draw(l *look.Look, label string, width int) (line string, x int) {
	shown, at := f.ed.Line(max(width-cells.Width(label)-1, 1))
	return cells.Paint(l.Theme.Accent, label) + shown, cells.Width(label) + at
}

func (f field) paste(s string) { f.ed.Insert(look.OneLine(s)) }

// switchDiffs switches between the two ways of drawing this diff.
func (p *program) switchDiffs(src string, width int) {
	transcript.SwitchDiffs(&p.look, src, width)
	p.restyle()
}
