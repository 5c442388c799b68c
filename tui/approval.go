package tui

import (
	"encoding/json"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/agent"
	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tui/editor"
	"jcode/tui/keyboard"
)

// approval asks whether a call may run. It shows the whole command or diff.
type approval struct {
	guard
	id     string
	q      tools.Question
	at     int    // chosen option
	text   review // what is approved
	word   *field
	edit   *editor.Editor // of the argument that may be changed
	edited bool
	// numbers gives the places in the question of options that are shown by others; nil when
	// they are the same.
	numbers map[int]int
	rule    *review // the chosen answer in full, in place of what is approved
	terse   bool    // the answers have no room for what they grant
	width   int
}

func newApproval(id string, q tools.Question) *approval {
	if len(q.Options) == 0 {
		q.Options = []tools.AnswerOption{{Scope: tools.AnswerOnce, Label: "yes, once"}, {Scope: tools.AnswerNo, Label: "no"}}
	}
	a := &approval{id: id, q: q}
	a.lay()
	return a
}

// lay puts together what is approved: the thing itself first, then what must be known of it.
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
	if len(a.text.parts) == 0 { // they are the thing
		for _, n := range notes {
			a.text.parts = append(a.text.parts, reviewPart{text: n, prose: true})
		}
		return
	}
	for _, n := range notes {
		if q.Command == "" && q.Diff == "" && strings.HasPrefix(n, "arguments: ") {
			continue // they are the thing, whole and in order
		}
		a.text.notes = append(a.text.notes, n)
	}
}

func (a *approval) armed(now time.Time) bool { return a.ready(now) }

// keyOf gives the letter of option i besides its number: the first of a scope has one, and
// y is always the most limited yes.
func (a *approval) keyOf(i int) string {
	scope := a.q.Options[i].Scope
	once := false
	for j, o := range a.q.Options {
		once = once || o.Scope == tools.AnswerOnce
		if j < i && o.Scope == scope {
			return ""
		}
	}
	switch scope {
	case tools.AnswerOnce:
		return "y"
	case tools.AnswerNo:
		return "n"
	case tools.AnswerSession:
		if !once && i == 0 {
			return "y"
		}
		return "s"
	case tools.AnswerProject:
		if !once && i == 0 {
			return "y"
		}
		return "a"
	}
	return ""
}

func (a *approval) key(p *program, k tea.KeyPressMsg, act action) tea.Cmd {
	switch {
	case a.word != nil:
		return a.wordKey(p, k, act)
	case a.edit != nil:
		a.editKey(k, act)
		return nil
	case a.rule != nil:
		return a.ruleKey(p, act)
	case a.text.fits && p.scrollAct(act):
		return nil
	}
	if done, cmd := a.settle(p, k, act); done {
		return cmd
	}
	switch act {
	case actUp:
		a.at = max(a.at-1, 0)
	case actDown:
		a.at = min(a.at+1, len(a.q.Options)-1)
	case actSubmit:
		return a.choose(p, a.at)
	case actInterrupt, actCancel:
		p.interrupt()
	case actMode:
		return p.settings.nextMode()
	default:
		a.text.scrollKey(act)
	}
	if act != "" {
		return nil
	}
	name := keyboard.Letter(k)
	switch {
	case name == "w":
		f := newField()
		a.word = &f
		return nil
	case name == "r":
		a.showRule()
		return nil
	case name == "t" && a.q.Diff != "":
		p.look.switchDiffs(a.q.Diff, a.width)
		p.restyle()
		return nil
	case name == "e" && a.q.Editable != "":
		if s, ok := a.argument(); ok {
			a.edit = editor.New()
			a.edit.SetText(s)
		} else {
			p.flash("this cannot be edited here: refuse it with a word instead")
		}
		return nil
	}
	for i := range a.q.Options {
		if name == itoa(i+1) || name != "" && name == a.keyOf(i) {
			a.at = i
			return a.hold(orElse(k.Text, name), func() tea.Cmd { return a.choose(p, i) })
		}
	}
	return nil
}

// choose answers with option i. A lasting answer whose rule is out of sight is shown first.
func (a *approval) choose(p *program, i int) tea.Cmd {
	if a.terse && a.lasting(i) {
		a.at = i
		a.showRule()
		return nil
	}
	return a.reply(p, i, "")
}

// lasting reports whether option i holds for more than this call.
func (a *approval) lasting(i int) bool {
	scope := a.q.Options[i].Scope
	return scope == tools.AnswerSession || scope == tools.AnswerProject
}

// showRule shows the chosen answer in full.
func (a *approval) showRule() {
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

// ruleKey is a key while the chosen answer is shown in full.
func (a *approval) ruleKey(p *program, act action) tea.Cmd {
	switch act {
	case actSubmit:
		return a.reply(p, a.at, "")
	case actInterrupt, actCancel:
		a.rule = nil
	default:
		a.rule.scrollKey(act)
	}
	return nil
}

// wordKey edits the word to the model that goes with a refusal.
func (a *approval) wordKey(p *program, k tea.KeyPressMsg, act action) tea.Cmd {
	switch act {
	case actSubmit:
		for i, o := range a.q.Options {
			if o.Scope == tools.AnswerNo {
				return a.reply(p, i, a.word.ed.Text())
			}
		}
		return a.reply(p, -1, a.word.ed.Text())
	case actInterrupt, actCancel:
		a.word = nil
	default:
		a.word.key(k, act)
	}
	return nil
}

// argument gives the argument that may be edited, as it is; ok is false where the editor
// would not keep every byte of it.
func (a *approval) argument() (value string, ok bool) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(a.q.Arguments, &m); err != nil {
		return "", false
	}
	if err := json.Unmarshal(m[a.q.Editable], &value); err != nil {
		return "", false
	}
	return value, editor.Keeps(value) && text.Clean(value) == value
}

// editKey edits the argument; Enter takes the change, Esc drops it.
func (a *approval) editKey(k tea.KeyPressMsg, act action) {
	switch act {
	case actSubmit:
		a.take(a.edit.Text())
		a.edit = nil
	case actInterrupt, actCancel:
		a.edit = nil
	case actNewline:
		a.edit.Newline()
	case actUp:
		a.edit.Vertical(-1, max(a.width-4, 1))
	case actDown:
		a.edit.Vertical(1, max(a.width-4, 1))
	default:
		if !a.edit.Do(editor.Command(act)) && act == "" && k.Text != "" {
			a.edit.Insert(typed(k.Text))
		}
	}
}

// take puts an edited argument in place of the model's.
func (a *approval) take(value string) {
	var m map[string]json.RawMessage
	raw, err := json.Marshal(value)
	if before, ok := a.argument(); err != nil || !ok || value == before || json.Unmarshal(a.q.Arguments, &m) != nil {
		return
	}
	m[a.q.Editable] = raw
	if args, err := json.Marshal(m); err == nil {
		a.q.Arguments, a.edited = args, true
		a.dropGrants()
		if a.q.Command != "" {
			a.q.Command = value
		}
		a.lay()
	}
}

// dropGrants takes away the answers that would hold for longer: they speak of the call as
// it was before it was edited.
func (a *approval) dropGrants() {
	var once []tools.AnswerOption
	numbers := map[int]int{}
	for i, o := range a.q.Options {
		if o.Scope == tools.AnswerOnce || o.Scope == tools.AnswerNo {
			numbers[len(once)] = a.number(i)
			once = append(once, o)
		}
	}
	if len(once) > 0 {
		a.q.Options, a.numbers, a.at = once, numbers, 0
	}
}

// number is the place of a shown option among those of the question.
func (a *approval) number(i int) int {
	if n, ok := a.numbers[i]; ok {
		return n
	}
	return i
}

func (a *approval) paste(s string) bool {
	switch {
	case a.word != nil:
		a.word.paste(s)
	case a.edit != nil:
		a.edit.Insert(s)
	default:
		return false
	}
	return true
}

func (a *approval) reply(p *program, option int, word string) tea.Cmd {
	ans := tools.Answer{Scope: tools.AnswerNo, Option: a.number(option), Word: strings.TrimSpace(word)}
	if option >= 0 {
		ans.Scope = a.q.Options[option].Scope
	}
	if a.edited {
		ans.Arguments = a.q.Arguments
	}
	p.close(a)
	c := p.turn.calls[a.q.CallID]
	if c != nil && a.edited && ans.Scope != tools.AnswerNo {
		c.change(a.q.Arguments)
	}
	c.wait(false)
	if p.conv == nil {
		return nil
	}
	if err := p.conv.Answer(a.id, ans); err != nil {
		p.say(agent.LevelInfo, err.Error())
	}
	return nil
}

// showBlanks makes long runs of blanks visible: text behind them must not get lost.
func showBlanks(s string) string {
	const long = 20
	var b strings.Builder
	for len(s) > 0 {
		n := 0
		for n < len(s) && s[n] == ' ' {
			n++
		}
		if n >= long {
			b.WriteString(" ⟨" + itoa(n) + " blanks⟩ ")
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
		end := strings.IndexByte(s, ' ')
		if end < 0 {
			end = len(s)
		}
		b.WriteString(s[:end])
		s = s[end:]
	}
	return b.String()
}

// title says what is asked, and how much of it there is to read.
func (a *approval) title(l *look, width int) string {
	title := orElse(a.q.Title, a.q.Tool)
	if tool, ok := strings.CutPrefix(title, "Execute intent: "); ok { // a word of the protocol
		title = "Run the tool " + tool
	}
	if a.q.Label != "" {
		title = a.q.Label + ": " + title
	}
	title = oneLine(text.Visible(title))
	if much := a.text.measure(width); much != "" {
		title = cells.Fit(title, max(width-6-3-cells.Width(much), 8)) + " · " + much
	}
	if l.asks > 1 {
		title += " · 1 of " + itoa(l.asks)
	}
	return title
}

func (a *approval) draw(l *look, width, height int) (lines []string, cursor *pos) {
	a.width = width
	titled, limit := halves(height, a.text.need(l, width), len(a.q.Options)+1)
	if titled {
		lines = append(lines, titleRule(l, a.title(l, width), width, l.theme.Warn))
	}
	foot := a.foot(l, width, limit)
	half := (height + 1) / 2
	room := max(height-len(lines)-len(foot), 1)
	switch {
	case a.edit != nil:
		rows, y, x, _, _ := a.edit.Window(max(width-4, 1), room)
		cursor = &pos{len(lines) + y, x + 2}
		for _, r := range rows {
			lines = append(lines, "  "+cells.Render(partSpans(l.theme, r)))
		}
	case a.rule != nil:
		lines = append(lines, a.rule.draw(l, width, room, half)...)
	case a.word != nil:
		lines = append(lines, a.text.draw(l, width, max(room-1, 1), half)...)
		line, x := a.word.draw(l, " tell it why not: ", width)
		cursor = &pos{len(lines), x}
		lines = append(lines, line)
	default:
		lines = append(lines, a.text.draw(l, width, room, half)...)
	}
	return append(lines, foot...), cursor
}

// foot lists the answers in at most limit rows; before keys are taken it says so instead.
func (a *approval) foot(l *look, width, limit int) []string {
	a.terse = false
	switch {
	case !a.open:
		return []string{cells.Paint(l.theme.Faint, cells.Fit(" answers as soon as you stop typing …", width))}
	case a.word != nil:
		return []string{hints(l, width, "enter", "refuse", "esc", "back")}
	case a.edit != nil:
		return []string{hints(l, width, "enter", "take the change", "ctrl+j", "new line", "esc", "back")}
	case a.rule != nil:
		return []string{hints(l, width, "enter", "take this answer", "esc", "back")}
	case len(a.q.Options) > limit:
		a.terse = true
		return a.chips(l, width, limit)
	}
	var out []string
	cut := false
	for i, o := range a.q.Options {
		label := oneLine(text.Visible(o.Label))
		row, whole := answerLine(l, i == a.at, a.keyFor(i), label, width)
		out = append(out, row)
		cut = cut || !whole
	}
	if len(out) < limit {
		edit, rule, turn := "", "", ""
		if a.q.Editable != "" {
			edit = "e"
		}
		if cut {
			rule = "r"
		}
		if a.q.Diff != "" && width > splitWidth {
			turn = "t"
		}
		out = append(out, hints(l, width, "↑↓ enter", "choose", edit, "edit", rule, "whole answer", "esc", "stop the turn", "w", "no, with a word to the model", turn, "columns"))
	}
	return out
}

// keyFor is the key of option i: its letter, else its number.
func (a *approval) keyFor(i int) string { return orElse(a.keyOf(i), itoa(i+1)) }

// chips lists the answers in few words, side by side, where there is no room for more: at
// worst only their keys, with the word of the chosen one.
func (a *approval) chips(l *look, width, limit int) []string {
	rows := a.chipRows(l, width, true)
	if len(rows) > limit {
		rows = a.chipRows(l, width, false)
	}
	var out []string
	for _, r := range rows[:min(len(rows), max(limit, 1))] {
		out = append(out, cells.Render(clip(r, width)))
	}
	return out
}

func (a *approval) chipRows(l *look, width int, words bool) [][]cells.Span {
	var rows [][]cells.Span
	used := width
	for i, o := range a.q.Options {
		mark, style := " ", cells.Style("")
		if i == a.at {
			mark, style = "›", l.theme.Selected
		}
		chip := []cells.Span{{Text: mark + a.keyFor(i), Style: style.With(l.theme.Strong)}}
		if words || i == a.at {
			chip = append(chip, cells.Span{Text: " " + scopeWord(o.Scope), Style: style})
		}
		chip = append(chip, cells.Span{Text: " ", Style: style})
		w := cells.SpansWidth(chip)
		if used+w > width {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], chip...)
		used += w
	}
	return rows
}

// scopeWord is an answer in one word; a lasting one grants more than it says.
func scopeWord(scope tools.AnswerScope) string {
	switch scope {
	case tools.AnswerSession:
		return "session …"
	case tools.AnswerProject:
		return "always …"
	case tools.AnswerOnce, tools.AnswerNo:
	}
	return string(scope)
}

// askEvent opens and closes questions.
func (p *program) askEvent(ev agent.Event) tea.Cmd {
	switch ev := ev.(type) {
	case agent.ApprovalAsked:
		p.turn.calls[ev.Question.CallID].wait(true)
		p.ask(newApproval(ev.ID, ev.Question))
		return p.outside.notify("jcode waits for you", ev.Question.Title)
	case agent.ApprovalClosed:
		for _, d := range p.asks {
			if a, ok := d.(*approval); ok && a.id == ev.ID {
				p.turn.calls[a.q.CallID].wait(false)
				p.close(d)
			}
		}
	case agent.AskPerson:
		p.ask(newQuestion(ev))
		return p.outside.notify("jcode asks you", ev.Text)
	case agent.AskForm:
		p.ask(newForm(ev))
		return p.outside.notify(ev.Form.From+" asks you", ev.Form.Text)
	case agent.AskClosed:
		for _, d := range p.asks {
			q, isQuestion := d.(*question)
			f, isForm := d.(*form)
			if isQuestion && q.id == ev.ID || isForm && f.id == ev.ID {
				p.close(d)
			}
		}
	}
	return nil
}
