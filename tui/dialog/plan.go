package dialog

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tools"
	"jcode/tui/editor"
	"jcode/tui/look"
)

const (
	planAsk = iota
	planEdits
	planChange
	planNotYet
)

// Plan asks what to do with a plan that was made in mode plan. To ask for changes the person just
// continues to write: the keys go to the input.
type Plan struct {
	guard
	Plan     string
	in       *editor.Editor // the input
	carryOut func(mode tools.Mode, m event.Prompt) tea.Cmd
}

func NewPlan(plan string, in *editor.Editor, carryOut func(mode tools.Mode, m event.Prompt) tea.Cmd) *Plan {
	return &Plan{guard: newGuard(), Plan: plan, in: in, carryOut: carryOut}
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

// ownPlan introduces a plan that the person changed: sent in mode plan, it is an accepted one.
const ownPlan = "Carry out this plan instead:"

// IsOwnPlan reports whether a text is a plan that the person changed.
func IsOwnPlan(s string) bool { return strings.HasPrefix(s, ownPlan) }

func (v *Plan) Key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	switch act {
	case look.Up:
		v.move(-1, planNotYet+1)
		return nil
	case look.Down, look.Complete:
		v.move(1, planNotYet+1)
		return nil
	case look.Submit:
		if v.at == None {
			h.Flash("a number answers, or ↑↓ and then enter")
			return nil
		}
		return v.choose(h, v.at)
	case look.Interrupt:
		return v.choose(h, planNotYet)
	case look.Cancel:
		return h.Act(act)
	}
	if act == "" && len(k.Text) == 1 && k.Text[0] >= '1' && k.Text[0] <= '1'+planNotYet {
		at := int(k.Text[0] - '1')
		return v.hold(k.Text, func() tea.Cmd { return v.choose(h, at) })
	}
	if act == "" && k.Text != "" {
		h.Close(v)
		h.Insert(k.Text)
	}
	return nil
}

// choose carries out the choice.
func (v *Plan) choose(h host, at int) tea.Cmd {
	h.Close(v)
	switch at {
	case planAsk, planEdits:
		mode := tools.ModeAsk
		if at == planEdits {
			mode = tools.ModeEdits
		}
		return v.carryOut(mode, event.Prompt{Text: "The plan is accepted. Carry it out.", Shown: "Plan accepted, mode " + string(mode) + "."})
	case planChange:
		v.in.SetText(ownPlan + "\n\n" + v.Plan)
		h.Flash("enter carries it out, asking before edits and commands")
	}
	return nil
}

func (v *Plan) Draw(l *look.Look, width, height int) (lines []string, cursor *Pos) {
	lines = append(lines, look.TitleRule(l, "Carry out this plan?", width, l.Theme.Accent))
	if !v.Open {
		return append(lines, untilArmed(l, width)...)[:min(2, max(height, 1))], nil
	}
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
