package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tui/dialog"
	"jcode/tui/front"
	"jcode/tui/transcript"
)

// nextSwitch is a switch that waits for the one under way.
type nextSwitch struct {
	begin   func() tea.Cmd
	waiting []event.Prompt // sent before the switch was requested: they are for the session before it
}

// interruptFor stops a running turn before the session is left.
func (p *switcher) interruptFor() {
	if p.turn.busy {
		p.Interrupt()
	}
}

// switchTo leaves this session for another.
func (p *switcher) switchTo(open func(ctx context.Context) (front.Session, error)) tea.Cmd {
	return p.switchOr(open, func(err error) tea.Cmd {
		p.Say(event.LevelError, err.Error())
		return nil
	})
}

// switchOr leaves this session for another, or runs failed if that can't be opened. Switches happen one after
// the other, in the order in which they were requested.
func (p *switcher) switchOr(open func(ctx context.Context) (front.Session, error), failed func(err error) tea.Cmd) tea.Cmd {
	if p.moving {
		p.next = append(p.next, nextSwitch{func() tea.Cmd { return p.switchOr(open, failed) }, p.waiting})
		p.waiting = nil
		return nil
	}
	p.status = "opening the session"
	p.moving = true
	return dialog.Fetch(p, open, func(s front.Session, err error) tea.Cmd {
		p.status = ""
		p.moving = false
		if err != nil {
			p.unsent() // they were meant for another session than this one
			return tea.Batch(failed(err), p.goOn())
		}
		p.tr = transcript.New()
		p.tr.Add(welcome(&p.opt, p.scene, p.talk))
		p.hint.text = ""
		return tea.Batch(p.enter(s), p.goOn())
	})
}

// goOn starts the next waiting switch, once none is under way.
func (p *switcher) goOn() tea.Cmd {
	if p.moving || len(p.next) == 0 {
		return nil
	}
	n := p.next[0]
	p.next = p.next[1:]
	for _, w := range n.waiting {
		p.conv.Prompt(w)
	}
	p.interruptFor()
	return n.begin()
}

// whenReady runs a command as soon as there is a conversation.
func (p *switcher) whenReady(do func() tea.Cmd) tea.Cmd {
	p.later = append(p.later, do)
	p.Flash("done as soon as the session is ready")
	return nil
}

// sendWaiting sends the prompts that waited for a switch, once none is under way.
func (p *switcher) sendWaiting() {
	if p.moving || len(p.next) > 0 {
		return
	}
	for _, w := range p.waiting {
		p.conv.Prompt(w)
	}
	p.waiting = nil
}

// unsent returns prompts to the input whose session or role could not be opened.
func (p *switcher) unsent() {
	list := &p.waiting
	if len(p.next) > 0 {
		list = &p.next[0].waiting
	}
	p.giveBack(*list)
	*list = nil
}
