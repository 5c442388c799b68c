package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tui/editor"
	"jcode/tui/look"
)

// question is a question of the ask tool: options to choose from, and always free text.
type question struct {
	guard
	id, label, ask string
	in             *editor.Editor       // the input
	send           func(s string) error // the answer
	options        []string
	answer         field // its place among the answers is len(options)
	text           review
}

func newQuestion(ev event.AskPerson, in *editor.Editor, send func(s string) error) *question {
	q := &question{guard: newGuard(), in: in, id: ev.ID, send: send, label: text.Clean(ev.Label), ask: text.Clean(ev.Text), answer: newField()}
	q.text.parts = []reviewPart{{text: q.ask, prose: true}}
	for _, o := range ev.Options {
		q.options = append(q.options, text.Clean(o))
	}
	return q
}

// owns reports whether the person is writing the answer.
func (q *question) owns() bool { return q.at == len(q.options) }

func (q *question) paste(s string) bool {
	if !q.owns() {
		return false
	}
	q.answer.paste(s)
	return true
}

func (q *question) key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	switch act {
	case look.Up:
		q.move(-1, len(q.options)+1)
		return nil
	case look.Down:
		q.move(1, len(q.options)+1)
		return nil
	case look.Complete: // what was written in the input is the answer
		q.turned, q.at = true, len(q.options)
		q.answer.ed.Insert(look.OneLine(q.in.Text()))
		q.in.Reset()
		return nil
	case look.PageUp, look.PageDown, look.LineUp, look.LineDown:
		q.text.scrollKey(act)
		return nil
	case look.Interrupt:
		h.aside(q)
		return nil
	case look.Cancel:
		return h.act(act)
	case look.Submit:
		if q.at == none {
			h.flash("a number answers, or ↑↓ and then enter; tab writes an answer")
			return nil
		}
		return q.reply(h)
	}
	if q.owns() {
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

func (q *question) reply(h host) tea.Cmd {
	s := strings.TrimSpace(q.answer.ed.Text())
	if q.at < len(q.options) {
		s = q.options[q.at]
	}
	if s == "" {
		return nil
	}
	h.close(q)
	if err := q.send(s); err != nil {
		h.say(event.LevelInfo, err.Error())
		return nil
	}
	h.say(event.LevelInfo, "You answered: "+s)
	return nil
}

func (q *question) draw(l *look.Look, width, height int) (lines []string, cursor *pos) {
	title := "A question"
	if q.label != "" {
		title = q.label + " asks"
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
		at.row += len(lines)
	}
	return append(lines, foot...), at
}

// foot draws the answers in at most limit rows, with the chosen one visible; the cursor is that of the text
// field.
func (q *question) foot(l *look.Look, width, limit int) (rows []string, cursor *pos) {
	if !q.open {
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
		cursor = &pos{len(rows) - 1, x}
	}
	if len(rows) < limit && l.Beside {
		return append(rows, look.Hints(l, width, "enter", "sends what you wrote", "tab", "answers with it", "ctrl+t", "turns here")), cursor
	}
	if len(rows) < limit {
		return append(rows, look.Hints(l, width, "↑↓ enter", "choose", "esc", "aside", "tab", "write an answer")), cursor
	}
	from := min(max(chosen-limit+1, 0), len(rows)-limit)
	if cursor != nil {
		cursor.row -= from
	}
	return rows[from : from+limit], cursor
}
