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
)

// approval asks whether a call may run. It shows the whole command or diff.
type approval struct {
	guard
	id     string
	q      tools.Question
	at     int  // chosen option
	scroll int  // first body line shown
	more   bool // body lines are out of sight below
	word   *field
	edit   *editor // of the argument that may be changed
	edited bool
	// numbers gives the places in the question of options that are shown by others; nil when
	// they are the same.
	numbers map[int]int
	fits    bool // all of the body is in sight
	kept    []string
	stamp   int
	width   int
}

func newApproval(id string, q tools.Question) *approval {
	if len(q.Options) == 0 {
		q.Options = []tools.AnswerOption{{Scope: tools.AnswerOnce, Label: "yes, once"}, {Scope: tools.AnswerNo, Label: "no"}}
	}
	return &approval{id: id, q: q}
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
	case a.fits && p.scrollAct(act):
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
	case actPageUp, actLineUp:
		a.scroll = max(a.scroll-5, 0)
	case actPageDown, actLineDown:
		a.scroll += 5
	case actSubmit:
		return a.reply(p, a.at, "")
	case actInterrupt, actCancel:
		p.interrupt()
	case actMode:
		return p.nextMode()
	}
	if act != "" {
		return nil
	}
	name := k.String()
	switch {
	case name == "w":
		f := newField()
		a.word = &f
		return nil
	case name == "e" && a.q.Editable != "":
		if s, ok := a.argument(); ok {
			a.edit = newEditor()
			a.edit.SetText(s)
		} else {
			p.flash("this cannot be edited here: refuse it with a word instead")
		}
		return nil
	}
	for i := range a.q.Options {
		if name == itoa(i+1) || name != "" && name == a.keyOf(i) {
			a.at = i
			return a.hold(name, func() tea.Cmd { return a.reply(p, i, "") })
		}
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
	return value, plainText(glyphLines(value)) == value && text.Clean(value) == value
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
		a.edit.vertical(-1, max(a.width-4, 1))
	case actDown:
		a.edit.vertical(1, max(a.width-4, 1))
	default:
		if !a.edit.do(act) && act == "" && k.Text != "" {
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
		a.q.Arguments, a.edited, a.kept = args, true, nil
		a.dropGrants()
		if a.q.Command != "" {
			a.q.Command = value
		}
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

func (a *approval) paste(s string) {
	switch {
	case a.word != nil:
		a.word.paste(s)
	case a.edit != nil:
		a.edit.Insert(s)
	}
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
	p.turn.calls[a.q.CallID].wait(false)
	if p.conv == nil {
		return nil
	}
	if err := p.conv.Answer(a.id, ans); err != nil {
		p.say(agent.LevelInfo, err.Error())
	}
	return nil
}

// body is what the person decides on, in full.
func (a *approval) body(l *look, width int) []string {
	if a.kept != nil && a.stamp == l.stamp && a.width == width {
		return a.kept
	}
	var out []string
	if a.q.Command != "" {
		spans := []cells.Span{{Text: showBlanks(text.Visible(cells.ExpandTabs(a.q.Command, 4))), Style: l.theme.Strong}}
		for _, line := range cells.Fold(spans, max(width-2, 1)) {
			out = append(out, "  "+cells.Render(line))
		}
	}
	details := a.q.Details
	if a.edited {
		details = append([]string{"as you edited it"}, details...)
	}
	for _, d := range details {
		for _, line := range cells.Wrap([]cells.Span{{Text: text.Visible(d), Style: l.theme.Faint}}, max(width-2, 1)) {
			out = append(out, "  "+cells.Render(line))
		}
	}
	if a.q.Diff != "" {
		out = append(out, indent(drawDiff(a.q.Diff, l, max(width-2, 1), fullLines), "  ")...)
	}
	a.kept, a.stamp, a.width = out, l.stamp, width
	return out
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

func (a *approval) draw(l *look, width, height int) (lines []string, cursor *pos) {
	title := a.q.Title
	if title == "" {
		title = a.q.Tool
	}
	if a.q.Label != "" {
		title = a.q.Label + ": " + title
	}
	lines = append(lines, titleRule(l, text.Visible(title), width, l.theme.Warn))
	foot := a.foot(l, width)
	body := a.body(l, width)
	room := max(height-1-len(foot), 1)
	a.scroll = min(a.scroll, max(len(body)-room, 0))
	a.more = len(body) > a.scroll+room
	a.fits = len(body) <= room
	shown := body[a.scroll:min(a.scroll+room, len(body))]
	if a.more {
		shown = append([]string(nil), shown[:room-1]...)
		shown = append(shown, cells.Paint(l.theme.Warn, cells.Fit("  ↓ "+count(len(body)-a.scroll-room+1, "more line")+" (pgdown)", width)))
	}
	if a.edit != nil {
		rows, y, x, _, _ := a.edit.window(max(width-4, 1), room)
		cursor = &pos{len(lines) + y, x + 2}
		for _, r := range rows {
			lines = append(lines, "  "+cells.Render(glyphSpans(l.theme, r.glyphs)))
		}
		return append(lines, foot...), cursor
	}
	lines = append(lines, shown...)
	if a.word != nil {
		line, x := a.word.draw(l, " tell it why not: ", width)
		cursor = &pos{len(lines), x}
		lines = append(lines, line)
	}
	return append(lines, foot...), cursor
}

// foot lists the answers; before keys are taken it says so instead.
func (a *approval) foot(l *look, width int) []string {
	if !a.open {
		return []string{cells.Paint(l.theme.Faint, cells.Fit(" answers as soon as you stop typing …", width))}
	}
	switch {
	case a.word != nil:
		return []string{hints(l, width, "enter", "refuse", "esc", "back")}
	case a.edit != nil:
		return []string{hints(l, width, "enter", "take the change", "ctrl+j", "new line", "esc", "back")}
	}
	var out []string
	for i, o := range a.q.Options {
		key := a.keyOf(i)
		if key == "" {
			key = itoa(i + 1)
		}
		// A label names what would be stored: it shows whole.
		out = append(out, answerRow(l, i == a.at, key, oneLine(text.Visible(o.Label)), width)...)
	}
	edit := ""
	if a.q.Editable != "" {
		edit = "e"
	}
	return append(out, hints(l, width, "↑↓ enter", "choose", edit, "edit", "esc", "stop the turn", "w", "no, with a word to the model"))
}

// askEvent opens and closes questions.
func (p *program) askEvent(ev agent.Event) tea.Cmd {
	switch ev := ev.(type) {
	case agent.ApprovalAsked:
		p.turn.calls[ev.Question.CallID].wait(true)
		p.ask(newApproval(ev.ID, ev.Question))
		return p.notify("jcode waits for you", ev.Question.Title)
	case agent.ApprovalClosed:
		for _, d := range p.asks {
			if a, ok := d.(*approval); ok && a.id == ev.ID {
				p.turn.calls[a.q.CallID].wait(false)
				p.close(d)
			}
		}
	case agent.AskPerson:
		p.ask(newQuestion(ev))
		return p.notify("jcode asks you", ev.Text)
	case agent.AskForm:
		p.ask(newForm(ev))
		return p.notify(ev.Form.From+" asks you", ev.Form.Text)
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
