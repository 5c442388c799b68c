package dialog

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tui/editor"
	"jcode/tui/look"
)

// Question is a question of the ask tool: options to choose from, and always free text.
type Question struct {
	guard
	ID, Asked  string // as the model wrote it
	label, ask string
	in         *editor.Editor       // the input
	send       func(s string) error // the answer
	options    []string
	answer     field // its place among the answers is len(options)
	text       review
}

func NewQuestion(ev event.AskPerson, in *editor.Editor, send func(s string) error) *Question {
	q := &Question{guard: newGuard(), in: in, ID: ev.ID, Asked: ev.Text, send: send, label: text.Clean(ev.Label), ask: text.Clean(ev.Text), answer: NewField()}
	q.text.Parts = []ReviewPart{{Text: q.ask, prose: true}}
	for _, o := range ev.Options {
		q.options = append(q.options, text.Clean(o))
	}
	return q
}

// Owns reports whether the person is writing the answer.
func (q *Question) Owns() bool { return q.at == len(q.options) }

func (q *Question) Paste(s string) bool {
	if !q.Owns() {
		return false
	}
	q.answer.Paste(s)
	return true
}

func (q *Question) Key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	switch act {
	case look.Up:
		q.move(-1, len(q.options)+1)
		return nil
	case look.Down:
		q.move(1, len(q.options)+1)
		return nil
	case look.Complete: // what was written in the input is the answer
		q.turned, q.at = true, len(q.options)
		q.answer.Editor.Insert(look.OneLine(q.in.Text()))
		q.in.Reset()
		return nil
	case look.PageUp, look.PageDown, look.LineUp, look.LineDown:
		q.text.scrollKey(act)
		return nil
	case look.Interrupt:
		h.Aside(q)
		return nil
	case look.Cancel:
		return h.Act(act)
	case look.Submit:
		if q.at == None {
			h.Flash("a number answers, or ↑↓ and then enter; tab writes an answer")
			return nil
		}
		return q.reply(h)
	}
	if q.Owns() {
		q.answer.key(k, act)
		return nil
	}
	if act != "" {
		return nil
	}
	if len(k.Text) == 1 && k.Text[0] >= '1' && int(k.Text[0]-'1') < len(q.options) {
		at := int(k.Text[0] - '1')
		return q.hold(k.Text, func() tea.Cmd { q.at = at; return q.reply(h) })
	}
	q.stray(h, k)
	return nil
}

func (q *Question) reply(h host) tea.Cmd {
	s := strings.TrimSpace(q.answer.Editor.Text())
	if q.at < len(q.options) {
		s = q.options[q.at]
	}
	if s == "" {
		return nil
	}
	h.Close(q)
	if err := q.send(s); err != nil {
		h.Say(event.LevelInfo, err.Error())
		return nil
	}
	if q.label != "" { // otherwise the row of the call says it
		h.Say(event.LevelInfo, "You answered "+q.label+": "+s)
	}
	return nil
}

func (q *Question) Draw(l *look.Look, width, height int) (lines []string, cursor *Pos) {
	title := "A question"
	if q.label != "" {
		title = l.Tilde(q.label) + " asks"
	}
	titled, limit := halves(height, q.text.need(l, width), height)
	if titled {
		lines = append(lines, look.TitleRule(l, title, width, l.Theme.Info))
	}
	foot, at := q.foot(l, width, limit)
	room := max(height-len(lines)-len(foot), 1)
	body := q.text.draw(l, width, room, room)
	lines = append(lines, body...)
	if at != nil {
		at.Row += len(lines)
	}
	return append(lines, foot...), at
}

// foot draws the answers in at most limit rows, with the chosen one visible; the cursor is that of the text
// field.
func (q *Question) foot(l *look.Look, width, limit int) (rows []string, cursor *Pos) {
	if !q.Open {
		return untilArmed(l, width), nil
	}
	for i, o := range q.options {
		rows = append(rows, answerRow(l, i == q.at, strconv.Itoa(i+1), look.OneLine(o), width)...)
	}
	chosen := q.at
	if len(rows)+2 > limit { // one row each
		rows = nil
		for i, o := range q.options {
			row, _ := answerLine(l, i == q.at, strconv.Itoa(i+1), look.OneLine(o), width)
			rows = append(rows, row)
		}
	} else {
		chosen = 0
	}
	line, x := q.answer.draw(l, " your answer: ", width)
	rows = append(rows, line)
	if q.at == len(q.options) {
		cursor = &Pos{len(rows) - 1, x}
	}
	if len(rows) < limit && l.Beside {
		return append(rows, look.Hints(l, width, "enter", "sends what you wrote", "tab", "answers with it", "ctrl+t", "turns here")), cursor
	}
	if len(rows) < limit {
		return append(rows, look.Hints(l, width, "↑↓ enter", "choose", "esc", "aside", "tab", "write an answer")), cursor
	}
	from := min(max(chosen-limit+1, 0), len(rows)-limit)
	if cursor != nil {
		cursor.Row -= from
	}
	return rows[from : from+limit], cursor
}
