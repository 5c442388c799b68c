package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent"
	"jcode/internal/cells"
	"jcode/internal/text"
)

// question is one of the ask tool: options to choose from, and always free text.
type question struct {
	guard
	id, label, ask string
	options        []string
	at             int // chosen option; len(options) = the text field
	answer         field
	scroll         int
}

func newQuestion(ev agent.AskPerson) *question {
	q := &question{id: ev.ID, label: text.Clean(ev.Label), ask: text.Clean(ev.Text), answer: newField()}
	for _, o := range ev.Options {
		q.options = append(q.options, text.Clean(o))
	}
	return q
}

func (q *question) armed(now time.Time) bool { return q.ready(now) }

func (q *question) paste(s string) {
	q.at = len(q.options)
	q.answer.paste(s)
}

func (q *question) key(p *program, k tea.KeyPressMsg, act action) tea.Cmd {
	onField := q.at == len(q.options)
	switch act {
	case actUp:
		q.at = max(q.at-1, 0)
		return nil
	case actDown, actComplete:
		q.at = min(q.at+1, len(q.options))
		return nil
	case actPageUp:
		q.scroll = max(q.scroll-5, 0)
		return nil
	case actPageDown:
		q.scroll += 5
		return nil
	case actInterrupt, actCancel:
		p.interrupt()
		return nil
	case actSubmit:
		return q.reply(p)
	}
	if !onField && act == "" && len(k.Text) == 1 && k.Text[0] >= '1' && int(k.Text[0]-'1') < len(q.options) {
		q.at = int(k.Text[0] - '1')
		return q.reply(p)
	}
	if act == "" || onField {
		q.at = len(q.options) // writing goes to the field
		q.answer.key(k, act)
	}
	return nil
}

func (q *question) reply(p *program) tea.Cmd {
	s := strings.TrimSpace(q.answer.ed.Text())
	if q.at < len(q.options) {
		s = q.options[q.at]
	}
	if s == "" {
		return nil
	}
	p.close(q)
	if p.conv == nil {
		return nil
	}
	if err := p.conv.Reply(q.id, s); err != nil {
		p.say(agent.LevelInfo, err.Error())
		return nil
	}
	p.say(agent.LevelInfo, "You answered: "+s)
	return nil
}

func (q *question) draw(l *look, width, height int) (lines []string, cursor *pos) {
	title := "A question"
	if q.label != "" {
		title = q.label + " asks"
	}
	lines = append(lines, titleRule(l, title, width, l.theme.Info))
	var foot []string
	if !q.open {
		foot = []string{cells.Paint(l.theme.Faint, cells.Fit(" answers as soon as you stop typing …", width))}
	} else {
		for i, o := range q.options {
			foot = append(foot, answerRow(l, i == q.at, itoa(i+1), oneLine(o), width)...)
		}
		line, x := q.answer.draw(l, " your answer: ", width)
		if q.at == len(q.options) {
			cursor = &pos{len(foot), x}
		}
		foot = append(foot, line, hints(l, width, "↑↓ enter", "choose", "esc", "stop the turn"))
	}
	body := cells.Wrap([]cells.Span{{Text: q.ask}}, max(width-2, 1))
	room := max(height-1-len(foot), 1)
	q.scroll = min(q.scroll, max(len(body)-room, 0))
	for _, spans := range body[q.scroll:min(q.scroll+room, len(body))] {
		lines = append(lines, "  "+cells.Render(spans))
	}
	if cursor != nil {
		cursor.row += len(lines)
	}
	return append(lines, foot...), cursor
}
