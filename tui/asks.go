package tui

import (
	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tools"
	"jcode/tui/dialog"
	"jcode/tui/transcript"
)

// askEvent opens and closes questions.
func (p *listener) askEvent(ev event.Event) tea.Cmd {
	conv := p.conv
	switch ev := ev.(type) {
	case event.ApprovalAsked:
		p.turn.calls[ev.Question.CallID].Wait(true)
		p.ask(dialog.NewApproval(ev.ID, ev.Question, func(a tools.Answer) error {
			p.turn.calls[ev.Question.CallID].Answered(a)
			return conv.Answer(ev.ID, a)
		}))
		return p.outside.notify("jcode waits for you", ev.Question.Heading())
	case event.ApprovalClosed:
		for _, d := range p.stack.Questions() {
			if a, ok := d.(*dialog.Approval); ok && a.ID == ev.ID {
				p.turn.calls[a.Asked.CallID].Wait(false)
				p.Close(d)
			}
		}
	case event.AskPerson:
		if ev.Label == "" {
			p.turn.asking(ev.Text).Wait(true)
		}
		p.ask(dialog.NewQuestion(ev, p.in, func(s string) error { return conv.Reply(ev.ID, s) }))
		return p.outside.notify("jcode asks you", ev.Text)
	case event.AskForm:
		p.ask(dialog.NewForm(ev, func(a tools.FormAnswer) error { return conv.Fill(ev.ID, a) }))
		return p.outside.notify(ev.Form.From+" asks you", ev.Form.Text)
	case event.AskClosed:
		for _, d := range p.stack.Questions() {
			q, isQuestion := d.(*dialog.Question)
			f, isForm := d.(*dialog.Form)
			if isQuestion && q.ID == ev.ID || isForm && f.ID == ev.ID {
				if isQuestion {
					p.turn.asking(q.Asked).Wait(false)
				}
				p.Close(d)
			}
		}
	}
	return nil
}

// asking returns the running call of the tool `ask` that has put a question, nil for none.
func (t *turn) asking(question string) *transcript.Call {
	for _, c := range t.calls {
		if c.Name == "ask" && c.Asks(question) {
			return c
		}
	}
	return nil
}
