package tui

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/front"
	"jcode/tui/look"
)

// role switches the role; with text after the name the role applies to that one message.
func (p *settings) role(args string) tea.Cmd {
	name, words, _ := strings.Cut(args, " ")
	if key, value, set := front.RoleValue(args); set {
		return p.switcher.switchRole("changing "+key, valueSet(key, value), func(ctx context.Context, c front.Conversation) error { return c.SetRoleValue(ctx, key, value) })
	}
	switch {
	case args == "info" || name == "set":
		return p.roleInfo(args)
	case name == "":
		return pick(p.loop, p.scene, "Roles", "no role is known", p.opt.Roles, func(r command.Row) tea.Cmd { return p.enterRole(r.ID) })
	case strings.TrimSpace(words) != "":
		p.sender.prompt(event.Prompt{Text: strings.TrimSpace(words), Role: name})
		return nil
	case name == "off":
		name = ""
	}
	return p.enterRole(name)
}

// roleInfo runs the parts of /role that come from outside.
func (p *settings) roleInfo(args string) tea.Cmd {
	c, ok := p.opt.Commands.Find("role")
	if !ok {
		p.Flash("nothing is known of roles here")
		return nil
	}
	return p.slashes.foreign(c).run(args)
}

// enterRole switches to a role; "" leaves the current one.
func (p *settings) enterRole(name string) tea.Cmd {
	doing := "leaving the role"
	if name != "" {
		doing = "entering the role " + name
	}
	return p.switcher.switchRole(doing, "", func(ctx context.Context, c front.Conversation) error { return c.SetRole(ctx, name) })
}

// switchRole changes the role in force, which may have to wait for servers and for a form. done is shown at
// the end, "" for nothing. Meanwhile the wait is shown, prompts wait, and Esc cancels the whole switch.
func (p *switcher) switchRole(doing, done string, enter func(ctx context.Context, c front.Conversation) error) tea.Cmd {
	conv := p.conv
	switch {
	case conv == nil:
		return p.whenReady(func() tea.Cmd { return p.switchRole(doing, done, enter) })
	case p.moving:
		p.Flash("another switch is under way")
		return nil
	}
	ctx, takeBack := context.WithCancel(p.ctx)
	p.moving = true
	p.unswitch = takeBack
	p.status = doing + " (esc takes it back)"
	return p.Background(func(context.Context) dialog.Do {
		err := enter(ctx, conv)
		stopped := ctx.Err() != nil || errors.Is(err, agent.ErrNotEntered)
		takeBack()
		return func() tea.Cmd {
			p.moving = false
			p.unswitch, p.status, p.hint.text = nil, "", ""
			p.state = conv.State()
			if err == nil {
				if done != "" {
					p.Say(event.LevelInfo, done)
				}
				p.sendWaiting()
				return p.goOn()
			}
			if stopped {
				p.Say(event.LevelInfo, "The switch was taken back: everything is as before.")
			} else {
				p.failed("role", err)
			}
			p.unsent() // they were meant for the other role
			return p.goOn()
		}
	})
}

// valueSet describes the result of changing a role's value.
func valueSet(key, value string) string {
	if value == "" {
		return "The role's " + key + " is as the role has it again."
	}
	return "The role's " + key + " is " + text.Ellipsis(look.OneLine(value), 60) + " now."
}

// roleNames completes /role: names first.
func (p *settings) roleNames(args string) []string {
	if p.opt.Roles == nil {
		return nil
	}
	rows, err := p.opt.Roles(p.ctx)
	if err != nil {
		return nil // completion only; /role reports what is wrong
	}
	var out []string
	for _, r := range rows {
		if strings.HasPrefix(r.ID, args) {
			out = append(out, r.ID)
		}
	}
	if c, ok := p.opt.Commands.Find("role"); ok && c.Complete != nil {
		out = append(out, c.Complete(p.ctx, args)...)
	}
	return out
}
