package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/internal/text"
)

func (p *panels) showTodo() tea.Cmd {
	if len(p.todo) == 0 {
		p.flash("there is no plan")
		return nil
	}
	said := "The plan:"
	for _, it := range p.todo {
		said += "\n" + todoMark(it) + " " + it.Text
	}
	p.say(event.LevelInfo, said)
	return nil
}

// showCost shows what the session has used.
func (p *panels) showCost() tea.Cmd {
	u := p.usage
	mark := ""
	if u.Total.Estimated {
		mark = " (estimated)"
	}
	said := fmt.Sprintf("Used so far: %s tokens in, of them %s cached", thousands(u.Total.Input), thousands(u.Total.Cached))
	if u.Total.Written > 0 {
		said += fmt.Sprintf(" and %s written to the cache", thousands(u.Total.Written))
	}
	said += fmt.Sprintf(", %s out%s.", thousands(u.Total.Output), mark)
	if u.Priced {
		said += "\nCost: " + text.Spent(u.Cost, u.Total.Estimated) + "."
	} else {
		said += "\nThe price of this model is not known."
	}
	p.say(event.LevelInfo, said)
	return nil
}

// showContext shows what fills the model's window.
func (p *panels) showContext() tea.Cmd {
	if p.opt.Context == nil {
		return p.panels.showCost()
	}
	if p.state.Busy {
		p.flash("after this turn: the context is measured between turns")
		return nil
	}
	return fetch(p, p.opt.Context, func(use agent.ContextUse, err error) tea.Cmd {
		if err != nil {
			p.say(event.LevelError, "/context: "+err.Error())
			return nil
		}
		p.say(event.LevelInfo, contextText(use))
		return nil
	})
}

// contextText lists the parts of a request with bars; the largest one has the full length.
func contextText(use agent.ContextUse) string {
	mark := " (estimated)"
	if use.Known {
		mark = ""
	}
	var b strings.Builder
	if use.Window > 0 {
		fmt.Fprintf(&b, "The next request needs %s of %s tokens (%d%%)%s.", thousands(use.Total), thousands(use.Window), use.Total*100/use.Window, mark)
	} else {
		fmt.Fprintf(&b, "The next request needs %s tokens%s; the model's window is not known.", thousands(use.Total), mark)
	}
	sum := 1
	for _, part := range use.Parts {
		sum += part.Tokens
	}
	for _, part := range use.Parts {
		filled := (part.Tokens*barWidth + sum - 1) / sum
		fmt.Fprintf(&b, "\n%s%s %8s  %s", strings.Repeat("█", filled), strings.Repeat("·", barWidth-filled), thousands(part.Tokens), part.Name)
	}
	b.WriteString("\nThe parts are estimates.")
	if use.Unsent > 0 {
		b.WriteString("\nOf " + count(use.Unsent, "earlier answer") + " the thinking, or what else only its model understands, is kept and does not reach the model in use.")
	}
	return b.String()
}
