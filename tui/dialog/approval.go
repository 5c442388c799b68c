package dialog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/tools"
	"jcode/tui/editor"
	"jcode/tui/keyboard"
	"jcode/tui/look"
)

// Approval asks whether a call may run. It shows the whole command or diff.
type Approval struct {
	guard
	ID     string
	answer func(ans tools.Answer) error
	Asked  tools.Question
	Text   review // what is approved
	Word   *field
	Edit   *editor.Editor // of the argument that may be changed
	edited bool
	hunks  *hunks // while hunks are chosen
	Hunks  []int  // that were chosen; nil = all
	// numbers maps shown options to those of the question when they differ; nil when they are the same.
	numbers map[int]int
	Rule    *review // the chosen answer in full, instead of what is approved
	terse   bool    // the answers have no room for what they grant
	width   int
}

func NewApproval(id string, q tools.Question, answer func(ans tools.Answer) error) *Approval {
	if len(q.Options) == 0 {
		q.Options = []tools.AnswerOption{{Scope: tools.AnswerOnce, Label: "yes, once"}, {Scope: tools.AnswerNo, Label: "no"}}
	}
	a := &Approval{guard: newGuard(), ID: id, answer: answer, Asked: q}
	a.lay()
	return a
}

// chooseFirst is said when Enter is pressed and nothing was chosen.
const chooseFirst = "a letter answers, or ↑↓ and then enter"

// Owns reports whether a field or the rule of an answer is open.
func (a *Approval) Owns() bool {
	return a.Word != nil || a.Edit != nil || a.Rule != nil || a.hunks != nil
}

// lay assembles what is approved: the command or diff first, then the notes on it.
func (a *Approval) lay() {
	scroll := a.Text.scroll
	a.Text = review{scroll: scroll}
	q := &a.Asked
	if q.Command != "" {
		a.Text.Parts = append(a.Text.Parts, ReviewPart{Text: q.Command})
	}
	if q.Diff != "" {
		a.Text.Parts = append(a.Text.Parts, ReviewPart{diff: a.written()})
	}
	if len(a.Text.Parts) == 0 {
		a.Text.Parts = argumentParts(q.Arguments)
	}
	notes := q.Details
	if chosen := a.chosenHunks(); chosen != "" {
		notes = append([]string{chosen + ", as you chose them"}, notes...)
	}
	if a.edited {
		notes = append([]string{"as you edited it"}, notes...)
	}
	if len(a.Text.Parts) == 0 { // they are the content itself
		for _, n := range notes {
			a.Text.Parts = append(a.Text.Parts, ReviewPart{Text: n, prose: true})
		}
		return
	}
	for _, n := range notes {
		if q.Command == "" && q.Diff == "" && strings.HasPrefix(n, "arguments: ") {
			continue // they are the content, whole and in order
		}
		a.Text.Notes = append(a.Text.Notes, n)
	}
}

// keyOf returns the letter of option i, which it has in addition to its number: the first option of a scope
// has one, and y is always the most limited yes.
func (a *Approval) keyOf(i int) string {
	scope := a.Asked.Options[i].Scope
	has := func(options []tools.AnswerOption, scope tools.AnswerScope) bool {
		return slices.ContainsFunc(options, func(o tools.AnswerOption) bool { return o.Scope == scope })
	}
	switch {
	case has(a.Asked.Options[:i], scope):
		return ""
	case scope == tools.AnswerOnce, i == 0 && a.lasting(i) && !has(a.Asked.Options, tools.AnswerOnce):
		return "y"
	}
	return map[tools.AnswerScope]string{tools.AnswerSession: "s", tools.AnswerProject: "a", tools.AnswerNo: "n"}[scope]
}

func (a *Approval) Key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	switch {
	case a.Word != nil:
		return a.wordKey(h, k, act)
	case a.Edit != nil:
		a.editKey(k, act)
		return nil
	case a.Rule != nil:
		return a.ruleKey(h, act)
	case a.hunks != nil:
		a.hunkKey(h, k, act)
		return nil
	case a.Text.Fits && act.Scrolls():
		return h.Act(act)
	}
	switch act {
	case look.Up, look.Left:
		a.move(-1, len(a.Asked.Options))
	case look.Down, look.Right:
		a.move(1, len(a.Asked.Options))
	case look.Submit:
		if a.at == None {
			h.Flash(chooseFirst)
			return nil
		}
		return a.choose(h, a.at)
	case look.Interrupt:
		h.Aside(a)
	case look.Mode, look.Cancel:
		return h.Act(act)
	default:
		a.Text.scrollKey(act)
	}
	if act != "" {
		return nil
	}
	name := keyboard.Letter(k)
	if do := a.letter(h, name); do != nil {
		return a.hold(cmp.Or(k.Text, name), do)
	}
	a.stray(h, k)
	return nil
}

// letter returns the effect of a letter or number, nil if it has none here.
func (a *Approval) letter(h host, name string) func() tea.Cmd {
	switch {
	case name == "w":
		return func() tea.Cmd { // what follows is the message
			f := NewField()
			a.Word = &f
			return nil
		}
	case name == "r":
		return func() tea.Cmd { a.showRule(); return nil }
	case name == "t" && a.Asked.Diff != "":
		return func() tea.Cmd { h.SwitchDiffs(a.Asked.Diff, a.width); return nil }
	case name == "h" && !a.edited && a.Asked.Hunks() != nil:
		return func() tea.Cmd { a.hunks = newHunks(&a.Asked, a.Hunks); return nil }
	case name == "e" && a.Asked.Editable != "" && a.Hunks == nil:
		return func() tea.Cmd { a.beginEdit(h); return nil }
	}
	for i := range a.Asked.Options {
		if name == strconv.Itoa(i+1) || name != "" && name == a.keyOf(i) {
			return func() tea.Cmd { return a.choose(h, i) }
		}
	}
	return nil
}

// choose answers with option i. A lasting answer whose rule is not visible is shown in full first.
func (a *Approval) choose(h host, i int) tea.Cmd {
	if a.terse && a.lasting(i) {
		a.at = i
		a.showRule()
		return nil
	}
	return a.reply(h, i, "")
}

// lasting reports whether option i covers more than this call.
func (a *Approval) lasting(i int) bool {
	scope := a.Asked.Options[i].Scope
	return scope == tools.AnswerSession || scope == tools.AnswerProject
}

// showRule shows the chosen answer in full; without one, the first that lasts.
func (a *Approval) showRule() {
	if a.at == None {
		a.at = max(slices.IndexFunc(a.Asked.Options, func(o tools.AnswerOption) bool { return len(o.Rules) > 0 }), 0)
	}
	o := a.Asked.Options[a.at]
	a.Rule = &review{Parts: []ReviewPart{{Text: o.Label, prose: true}}}
	if len(o.Rules) > 0 {
		a.Rule.Parts = []ReviewPart{{Text: ruleLead(o.Scope), prose: true}}
		for _, r := range o.Rules {
			a.Rule.Parts = append(a.Rule.Parts, ReviewPart{Text: r})
		}
	}
}

// ruleLead says what an answer of a scope does with its rules.
func ruleLead(scope tools.AnswerScope) string {
	if scope == tools.AnswerProject {
		return "Runs without asking in this project, from now on:"
	}
	return "Runs without asking in this session:"
}

// ruleKey handles a key while the chosen answer is shown in full.
func (a *Approval) ruleKey(h host, act look.Action) tea.Cmd {
	switch act {
	case look.Submit:
		return a.reply(h, a.at, "")
	case look.Interrupt, look.Cancel:
		a.Rule = nil
	default:
		a.Rule.scrollKey(act)
	}
	return nil
}

func (a *Approval) reply(h host, option int, word string) tea.Cmd {
	ans := tools.Answer{Scope: tools.AnswerNo, Option: a.number(option), Word: strings.TrimSpace(word)}
	if option >= 0 {
		ans.Scope = a.Asked.Options[option].Scope
	}
	if a.edited {
		ans.Arguments = a.Asked.Arguments
	}
	if ans.Scope == tools.AnswerOnce {
		ans.Hunks = a.Hunks
	}
	h.Close(a)
	if err := a.answer(ans); err != nil {
		h.Say(event.LevelInfo, err.Error())
	}
	return nil
}
