package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent"
)

// role switches the role; with a text behind the name it holds for that one message.
func (p *settings) role(args string) tea.Cmd {
	name, words, _ := strings.Cut(args, " ")
	switch {
	case name == "":
		return p.panels.pick("Roles", "no role is known", p.opt.Roles, func(r Row) tea.Cmd { return p.settings.enterRole(r.ID) })
	case strings.TrimSpace(words) != "":
		p.prompt(agent.Prompt{Text: strings.TrimSpace(words), Role: name})
		return nil
	case name == "off":
		name = ""
	}
	return p.settings.enterRole(name)
}

// enterRole switches to a role, which may have to wait for its servers. Meanwhile that shows,
// prompts wait, and esc takes the switch back whole.
func (p *settings) enterRole(name string) tea.Cmd {
	conv := p.conv
	switch {
	case conv == nil:
		p.flash("not before the session is ready")
		return nil
	case p.switcher.moving > 0:
		p.flash("another switch is under way")
		return nil
	}
	ctx, takeBack := context.WithCancel(p.ctx)
	p.switcher.moving++
	p.switcher.unswitch = takeBack
	p.status = "leaving the role (esc takes it back)"
	if name != "" {
		p.status = "entering the role " + name + " (esc takes it back)"
	}
	return p.background(func(context.Context) do {
		err := conv.SetRole(ctx, name)
		stopped := ctx.Err() != nil
		takeBack()
		return func() tea.Cmd {
			p.switcher.moving--
			p.switcher.unswitch, p.status, p.hint.text = nil, "", ""
			p.state = conv.State()
			if err == nil {
				p.switcher.sendWaiting()
				return nil
			}
			if stopped {
				p.say(agent.LevelInfo, "The switch was taken back: everything is as before.")
			} else {
				p.failed("role", err)
			}
			p.giveBack(p.switcher.waiting) // they were meant for the other role
			p.switcher.waiting = nil
			return nil
		}
	})
}

// sendWaiting sends the prompts that waited for a switch, once none is under way.
func (p *switcher) sendWaiting() {
	if p.switcher.moving > 0 {
		return
	}
	for _, w := range p.switcher.waiting {
		p.conv.Prompt(w)
	}
	p.switcher.waiting = nil
}
