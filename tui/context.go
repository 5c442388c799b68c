package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tui/dialog"
	"jcode/tui/look"
)

func (p *panels) showTodo() tea.Cmd {
	if len(p.todo) == 0 {
		p.Flash("there is no plan")
		return nil
	}
	var all []string
	for _, it := range p.todo {
		all = append(all, todoMark(it)+" "+it.Text)
	}
	said := strings.Join(all, "\n")
	p.Open(dialog.NewPage("The plan", said))
	return nil
}

// showCost shows what the session has used.
func (p *panels) showCost() tea.Cmd {
	u := p.usage
	mark := ""
	if u.Total.Estimated {
		mark = " (estimated)"
	}
	said := fmt.Sprintf("Used so far: %s tokens in, of them %s cached", look.Thousands(u.Total.Input), look.Thousands(u.Total.Cached))
	if u.Total.Written > 0 {
		said += fmt.Sprintf(" and %s written to the cache", look.Thousands(u.Total.Written))
	}
	said += fmt.Sprintf(", %s out%s.", look.Thousands(u.Total.Output), mark)
	if u.Priced {
		said += "\nCost: " + text.Spent(u.Cost, u.Total.Estimated) + "."
	} else {
		said += "\nThe price of this model is not known."
	}
	p.Open(dialog.NewPage("Cost of this session", said))
	return nil
}

// showContext shows what fills the model's window.
func (p *panels) showContext() tea.Cmd {
	if p.opt.Context == nil {
		return p.showCost()
	}
	if p.state.Busy {
		p.Flash("after this turn: the context is measured between turns")
		return nil
	}
	return dialog.Fetch(p, p.opt.Context, func(use agent.ContextUse, err error) tea.Cmd {
		if err != nil {
			p.Say(event.LevelError, "/context: "+err.Error())
			return nil
		}
		p.Open(dialog.TablePage("What fills the context", func(width int) string { return contextText(use, width) }))
		return nil
	})
}

// contextText lists the parts of a request with bars, as far as the width has room for them; the largest one has
// the full length.
func contextText(use agent.ContextUse, width int) string {
	mark := " (estimated)"
	if use.Known {
		mark = ""
	}
	var b strings.Builder
	if use.Window > 0 {
		fmt.Fprintf(&b, "The next request needs %s of %s tokens (%d%%)%s.", look.Thousands(use.Total), look.Thousands(use.Window), use.Total*100/use.Window, mark)
	} else {
		fmt.Fprintf(&b, "The next request needs %s tokens%s; the model's window is not known.", look.Thousands(use.Total), mark)
	}
	head := cells.WrapText(b.String(), max(look.Prose(width), 20))
	b.Reset()
	b.WriteString(head)
	sum, names := 1, 0
	for _, part := range use.Parts {
		sum, names = sum+part.Tokens, max(names, cells.Width(part.Name))
	}
	full := min(look.BarWidth, max(width-names-11, 0))
	for _, part := range use.Parts {
		filled := (part.Tokens*full + sum - 1) / sum
		fmt.Fprintf(&b, "\n%s%s %8s  %s", strings.Repeat("█", filled), strings.Repeat("·", full-filled), look.Thousands(part.Tokens), part.Name)
	}
	said := b.String()
	b.Reset()
	b.WriteString("The parts are estimates.")
	if use.Unsent > 0 {
		b.WriteString(" Of " + text.Count(use.Unsent, "earlier answer") + " the thinking, or what else only its model understands, is kept and does not reach the model in use.")
	}
	return said + "\n" + cells.WrapText(b.String(), look.Prose(width))
}
