package tui

import (
	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tools"
)

// askEvent opens and closes questions.
func (p *listener) askEvent(ev event.Event) tea.Cmd {
	conv := p.conv
	switch ev := ev.(type) {
	case event.ApprovalAsked:
		p.turn.calls[ev.Question.CallID].Wait(true)
		p.ask(newApproval(ev.ID, ev.Question, func(a tools.Answer) error {
			p.turn.calls[ev.Question.CallID].Answered(a)
			return conv.Answer(ev.ID, a)
		}))
		return p.outside.notify("jcode waits for you", ev.Question.Heading())
	case event.ApprovalClosed:
		for _, d := range questions(&p.dialogStack) {
			if a, ok := d.(*approval); ok && a.id == ev.ID {
				p.turn.calls[a.q.CallID].Wait(false)
				p.close(d)
			}
		}
	case event.AskPerson:
		p.ask(newQuestion(ev, p.in, func(s string) error { return conv.Reply(ev.ID, s) }))
		return p.outside.notify("jcode asks you", ev.Text)
	case event.AskForm:
		p.ask(newForm(ev, func(a tools.FormAnswer) error { return conv.Fill(ev.ID, a) }))
		return p.outside.notify(ev.Form.From+" asks you", ev.Form.Text)
	case event.AskClosed:
		for _, d := range questions(&p.dialogStack) {
			q, isQuestion := d.(*question)
			f, isForm := d.(*form)
			if isQuestion && q.id == ev.ID || isForm && f.id == ev.ID {
				p.close(d)
			}
		}
	}
	return nil
}
