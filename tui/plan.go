package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tools"
	"jcode/tui/dialog"
	"jcode/tui/front"
)

// offer opens the question when a turn in mode plan ended with an answer.
func (p *planning) offer(ev event.TurnEnd) {
	if ev.Reason == event.StopDone && p.state.Planning && strings.TrimSpace(ev.Text) != "" && len(p.queue) == 0 {
		p.ask(dialog.NewPlan(ev.Text, p.in, p.carryOut))
	}
}

// withdraw closes the question: another turn begins, which answers it.
func (p *planning) withdraw() {
	for _, d := range p.stack.Questions() {
		if v, ok := d.(*dialog.Plan); ok {
			p.Close(v)
		}
	}
}

// isOwn reports whether a text is a plan that the person changed and thereby accepts.
func (p *planning) isOwn(s string) bool {
	return p.conv != nil && p.state.Mode == tools.ModePlan && dialog.IsOwnPlan(s)
}

// carryOutOwn has a plan of the person's own carried out.
func (p *planning) carryOutOwn(prompt event.Prompt) tea.Cmd {
	return p.carryOut(tools.ModeAsk, prompt)
}

// carryOut leaves plan mode, and the role if it allows no other mode, and has a plan carried out.
func (p *planning) carryOut(mode tools.Mode, prompt event.Prompt) tea.Cmd {
	return p.switcher.change("plan", func(ctx context.Context, c front.Conversation) error {
		c.SetMode(mode)
		if c.State().Mode == tools.ModePlan {
			if err := c.SetRole(ctx, ""); err != nil {
				return err
			}
		}
		c.Prompt(prompt)
		return nil
	})
}
