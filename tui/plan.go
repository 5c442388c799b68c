package tui

import (
	"context"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tools"
	"jcode/tui/editor"
	"jcode/tui/look"
)

// planView asks what to do with a plan that was made in mode plan. To ask for changes the person just
// continues to write: the keys go to the input.
type planView struct {
	guard
	plan     string
	in       *editor.Editor // the input
	carryOut func(mode tools.Mode, m event.Prompt) tea.Cmd
}

// planChoices returns the answers in order; the first two carry the plan out in a mode.
func planChoices() []string {
	return []string{
		"yes, asking before each change",
		"yes, edits run without asking",
		"yes, once you have changed it",
		"not yet: say what should differ",
	}
}

const (
	planAsk = iota
	planEdits
	planChange
	planNotYet
)

// offer opens the question when a turn in mode plan ended with an answer.
func (p *planning) offer(ev event.TurnEnd) {
	if ev.Reason == event.StopDone && p.state.Planning && strings.TrimSpace(ev.Text) != "" && len(p.queue) == 0 {
		p.ask(&planView{guard: newGuard(), plan: ev.Text, in: p.in, carryOut: p.plans.carryOut})
	}
}

func (v *planView) key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	switch act {
	case look.Up:
		v.move(-1, planNotYet+1)
		return nil
	case look.Down, look.Complete:
		v.move(1, planNotYet+1)
		return nil
	case look.Submit:
		if v.at == none {
			h.flash("a number answers, or ↑↓ and then enter")
			return nil
		}
		return v.choose(h, v.at)
	case look.Interrupt:
		return v.choose(h, planNotYet)
	case look.Cancel:
		return h.act(act)
	}
	if act == "" && len(k.Text) == 1 && k.Text[0] >= '1' && k.Text[0] <= '1'+planNotYet {
		at := int(k.Text[0] - '1')
		return v.hold(k.Text, func() tea.Cmd { return v.choose(h, at) })
	}
	if act == "" && k.Text != "" {
		h.close(v)
		h.insert(k.Text)
	}
	return nil
}

// withdraw closes the question: another turn begins, which answers it.
func (p *planning) withdraw() {
	for _, d := range questions(&p.dialogStack) {
		if v, ok := d.(*planView); ok {
			p.close(v)
		}
	}
}

// choose carries out the choice.
func (v *planView) choose(h host, at int) tea.Cmd {
	h.close(v)
	switch at {
	case planAsk, planEdits:
		mode := tools.ModeAsk
		if at == planEdits {
			mode = tools.ModeEdits
		}
		return v.carryOut(mode, event.Prompt{Text: "The plan is accepted. Carry it out.", Shown: "Plan accepted, mode " + string(mode) + "."})
	case planChange:
		v.in.SetText(ownPlan + "\n\n" + v.plan)
		h.flash("enter carries it out, asking before edits and commands")
	}
	return nil
}

// ownPlan introduces a plan that the person changed: sent in mode plan, it is an accepted one.
const ownPlan = "Carry out this plan instead:"

// isOwn reports whether a text is a plan that the person changed and thereby accepts.
func (p *planning) isOwn(s string) bool {
	return p.conv != nil && p.state.Mode == tools.ModePlan && strings.HasPrefix(s, ownPlan)
}

// carryOutOwn has a plan of the person's own carried out.
func (p *planning) carryOutOwn(prompt event.Prompt) tea.Cmd {
	return p.plans.carryOut(tools.ModeAsk, prompt)
}

// carryOut leaves plan mode, and the role if it allows no other mode, and has a plan carried out.
func (p *planning) carryOut(mode tools.Mode, prompt event.Prompt) tea.Cmd {
	return p.change("plan", func(ctx context.Context, c Conversation) error {
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

func (v *planView) draw(l *look.Look, width, height int) (lines []string, cursor *pos) {
	lines = append(lines, look.TitleRule(l, "Carry out this plan?", width, l.Theme.Accent))
	for i, choice := range planChoices() {
		lines = append(lines, answerRow(l, i == v.at, strconv.Itoa(i+1), choice, width)...)
	}
	foot := look.Hints(l, width, "↑↓ enter", "choose", "esc", "not yet", "or write", "what should differ")
	if l.Beside {
		foot = asideHints(l, width)
	}
	lines = append(lines, foot)
	return lines[:min(len(lines), max(height, 1))], nil
}
