package tui

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

// approval asks whether a call may run. It shows the whole command or diff.
type approval struct {
	guard
	id     string
	answer func(ans tools.Answer) error
	q      tools.Question
	text   review // what is approved
	word   *field
	edit   *editor.Editor // of the argument that may be changed
	edited bool
	// numbers maps shown options to those of the question when they differ; nil when they are the same.
	numbers map[int]int
	rule    *review // the chosen answer in full, instead of what is approved
	terse   bool    // the answers have no room for what they grant
	width   int
}

func newApproval(id string, q tools.Question, answer func(ans tools.Answer) error) *approval {
	if len(q.Options) == 0 {
		q.Options = []tools.AnswerOption{{Scope: tools.AnswerOnce, Label: "yes, once"}, {Scope: tools.AnswerNo, Label: "no"}}
	}
	a := &approval{guard: newGuard(), id: id, answer: answer, q: q}
	a.lay()
	return a
}

// chooseFirst is said when Enter is pressed and nothing was chosen.
const chooseFirst = "a letter answers, or ↑↓ and then enter"

// owns reports whether a field or the rule of an answer is open.
func (a *approval) owns() bool { return a.word != nil || a.edit != nil || a.rule != nil }

// lay assembles what is approved: the command or diff first, then the notes on it.
func (a *approval) lay() {
	scroll := a.text.scroll
	a.text = review{scroll: scroll}
	q := &a.q
	if q.Command != "" {
		a.text.parts = append(a.text.parts, reviewPart{text: q.Command})
	}
	if q.Diff != "" {
		a.text.parts = append(a.text.parts, reviewPart{diff: q.Diff})
	}
	if len(a.text.parts) == 0 {
		a.text.parts = argumentParts(q.Arguments)
	}
	notes := q.Details
	if a.edited {
		notes = append([]string{"as you edited it"}, notes...)
	}
	if len(a.text.parts) == 0 { // they are the content itself
		for _, n := range notes {
			a.text.parts = append(a.text.parts, reviewPart{text: n, prose: true})
		}
		return
	}
	for _, n := range notes {
		if q.Command == "" && q.Diff == "" && strings.HasPrefix(n, "arguments: ") {
			continue // they are the content, whole and in order
		}
		a.text.notes = append(a.text.notes, n)
	}
}

// keyOf returns the letter of option i, which it has in addition to its number: the first option of a scope
// has one, and y is always the most limited yes.
func (a *approval) keyOf(i int) string {
	scope := a.q.Options[i].Scope
	has := func(options []tools.AnswerOption, scope tools.AnswerScope) bool {
		return slices.ContainsFunc(options, func(o tools.AnswerOption) bool { return o.Scope == scope })
	}
	switch {
	case has(a.q.Options[:i], scope):
		return ""
	case scope == tools.AnswerOnce, i == 0 && a.lasting(i) && !has(a.q.Options, tools.AnswerOnce):
		return "y"
	}
	return map[tools.AnswerScope]string{tools.AnswerSession: "s", tools.AnswerProject: "a", tools.AnswerNo: "n"}[scope]
}

func (a *approval) key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	switch {
	case a.word != nil:
		return a.wordKey(h, k, act)
	case a.edit != nil:
		a.editKey(k, act)
		return nil
	case a.rule != nil:
		return a.ruleKey(h, act)
	case a.text.fits && act.Scrolls():
		return h.act(act)
	}
	switch act {
	case look.Up:
		a.move(-1, len(a.q.Options))
	case look.Down:
		a.move(1, len(a.q.Options))
	case look.Submit:
		if a.at == none {
			h.flash(chooseFirst)
			return nil
		}
		return a.choose(h, a.at)
	case look.Interrupt:
		h.aside(a)
	case look.Mode, look.Cancel:
		return h.act(act)
	default:
		a.text.scrollKey(act)
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
func (a *approval) letter(h host, name string) func() tea.Cmd {
	switch {
	case name == "w":
		return func() tea.Cmd { // what follows is the message
			f := newField()
			a.word = &f
			return nil
		}
	case name == "r":
		return func() tea.Cmd { a.showRule(); return nil }
	case name == "t" && a.q.Diff != "":
		return func() tea.Cmd { h.switchDiffs(a.q.Diff, a.width); return nil }
	case name == "e" && a.q.Editable != "":
		return func() tea.Cmd { a.beginEdit(h); return nil }
	}
	for i := range a.q.Options {
		if name == strconv.Itoa(i+1) || name != "" && name == a.keyOf(i) {
			return func() tea.Cmd { return a.choose(h, i) }
		}
	}
	return nil
}

// choose answers with option i. A lasting answer whose rule is not visible is shown in full first.
func (a *approval) choose(h host, i int) tea.Cmd {
	if a.terse && a.lasting(i) {
		a.at = i
		a.showRule()
		return nil
	}
	return a.reply(h, i, "")
}

// lasting reports whether option i covers more than this call.
func (a *approval) lasting(i int) bool {
	scope := a.q.Options[i].Scope
	return scope == tools.AnswerSession || scope == tools.AnswerProject
}

// showRule shows the chosen answer in full; without one, the first that lasts.
func (a *approval) showRule() {
	if a.at == none {
		a.at = max(slices.IndexFunc(a.q.Options, func(o tools.AnswerOption) bool { return len(o.Rules) > 0 }), 0)
	}
	o := a.q.Options[a.at]
	a.rule = &review{parts: []reviewPart{{text: o.Label, prose: true}}}
	if len(o.Rules) > 0 {
		a.rule.parts = []reviewPart{{text: ruleLead(o.Scope), prose: true}}
		for _, r := range o.Rules {
			a.rule.parts = append(a.rule.parts, reviewPart{text: r})
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
func (a *approval) ruleKey(h host, act look.Action) tea.Cmd {
	switch act {
	case look.Submit:
		return a.reply(h, a.at, "")
	case look.Interrupt, look.Cancel:
		a.rule = nil
	default:
		a.rule.scrollKey(act)
	}
	return nil
}

func (a *approval) reply(h host, option int, word string) tea.Cmd {
	ans := tools.Answer{Scope: tools.AnswerNo, Option: a.number(option), Word: strings.TrimSpace(word)}
	if option >= 0 {
		ans.Scope = a.q.Options[option].Scope
	}
	if a.edited {
		ans.Arguments = a.q.Arguments
	}
	h.close(a)
	if err := a.answer(ans); err != nil {
		h.say(event.LevelInfo, err.Error())
	}
	return nil
}
