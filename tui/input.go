package tui

import (
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"jcode/agent"
	"jcode/internal/text"
	"jcode/tui/editor"
	"jcode/tui/keyboard"
)

// burstGap is the longest time between two keys that come from one write: a paste without
// brackets. Whoever sees a key on the screen before the next one is slower.
const burstGap = 800 * time.Microsecond

// pasteGap is the longest pause inside a paste without brackets, once it had a line end.
const pasteGap = 200 * time.Millisecond

// burstWait is how long Enter waits in a burst for what may follow it.
const burstWait = 20 * time.Millisecond

// typing tells a person's Enter from line ends in text that a terminal pastes as fast keys.
type typing struct {
	last    time.Time // of the last key
	lines   bool      // a line end was part of this burst
	pending int       // number of the Enter that waits, 0 = none
	count   int
}

// submitMsg ends the wait of an Enter.
type submitMsg int

// note takes the time of a key.
func (t *typing) note(now time.Time) { t.last = now }

// fast reports whether a key that comes now belongs to a burst.
func (t *typing) fast(now time.Time) bool { return now.Sub(t.last) < burstGap }

// pasting reports whether lines of a paste came a moment ago; a slow terminal may pause inside it.
func (t *typing) pasting(now time.Time) bool {
	if now.Sub(t.last) >= pasteGap {
		t.lines = false
	}
	return t.lines
}

// hold makes an Enter wait.
func (t *typing) hold() tea.Cmd {
	t.count++
	t.pending = t.count
	id := submitMsg(t.count)
	return tea.Tick(burstWait, func(time.Time) tea.Msg { return id })
}

// settle ends the wait: nothing followed, so it was a person's Enter, unless the burst
// had line ends before: then it was the last line of a paste.
func (t *typing) settle(p *program, id submitMsg) tea.Cmd {
	if t.pending != int(id) {
		return nil
	}
	t.pending = 0
	if t.lines {
		p.in.Newline()
		return nil
	}
	return p.submit()
}

// flush settles an Enter that waits when another key comes: text makes it a line end.
func (t *typing) flush(p *program, isText bool) tea.Cmd {
	if t.pending == 0 {
		return nil
	}
	t.pending = 0
	if isText || t.lines {
		t.lines = true
		p.in.Newline()
		return nil
	}
	return p.submit()
}

// key routes a key press: to the dialog in front, the menu, or the input and transcript.
func (p *program) key(k tea.KeyPressMsg) tea.Cmd {
	now := time.Now()
	name := keyboard.Name(k)
	act := p.keys.of(name)
	isText := k.Text != "" && act == "" || act == actSubmit || act == actNewline
	if cmd := p.typing.flush(p, isText); cmd != nil {
		return tea.Sequence(cmd, func() tea.Msg { return k })
	}
	defer p.typing.note(now)
	pasting := p.typing.pasting(now)
	switch act {
	case actSuspend:
		return p.outside.suspend()
	case actRedraw:
		return p.redraw()
	}
	if d := p.front(); d != nil {
		if d.armed(now) {
			return d.key(p, k, act)
		}
		if g, ok := d.(guarded); ok {
			g.touch(now)
		}
	}
	if act == actCancel {
		return p.cancel()
	}
	if cmd, ok := p.complete.menuKey(k, act); ok {
		return cmd
	}
	if act == actSubmit {
		switch {
		case pasting:
			p.in.Newline()
			return nil
		case p.typing.fast(now) && !p.in.Empty() && !p.isCommand():
			return p.typing.hold()
		}
		return p.submit()
	}
	if p.opt.Vi {
		if cmd, ok := p.viKey(k, act); ok {
			return cmd
		}
	}
	if act != "" {
		return p.act(act)
	}
	if letter := keyboard.Letter(k); p.tr.find.active() && p.in.Empty() && (letter == "n" || letter == "N") {
		delta := -1
		if letter == "N" {
			delta = 1
		}
		p.tr.searchStep(&p.look, delta)
		return nil
	}
	if k.Text != "" {
		p.tr.chosen = -1
		p.in.Insert(typed(k.Text))
		return p.complete.menuUpdate()
	}
	return nil
}

// viKey hands a key to the vi keys; ok is false for those that do what they always do.
func (p *program) viKey(k tea.KeyPressMsg, act action) (cmd tea.Cmd, ok bool) {
	if p.vi.Writing() && (act != actInterrupt || p.complete.menu.active()) {
		return nil, false
	}
	name := keyboard.Letter(k)
	switch {
	case act == actInterrupt:
		name = "esc"
	case k.Text != "" && p.vi.TakesText():
		name = k.Text
	}
	switch ask, times := p.vi.Key(p.in, name); ask {
	case editor.Other:
		return nil, false
	case editor.LineUp, editor.LineDown:
		move := actUp
		if ask == editor.LineDown {
			move = actDown
		}
		for range times {
			p.act(move)
		}
		p.vi.Clamp(p.in)
	case editor.Search:
		return p.act(actSearch), true
	case editor.Done:
	}
	return nil, true
}

// isCommand reports whether the input is one line with a known command: its Enter need not
// wait, since no text that is pasted begins like that.
func (p *program) isCommand() bool {
	if p.in.Lines() != 1 || p.in.Len() < 2 || !p.in.Begins("/") {
		return false
	}
	_, ok := p.findCommand(firstWord(p.in.Text())[1:])
	return ok
}

// redraw draws the whole screen anew: somebody else may have written on it.
func (p *program) redraw() tea.Cmd {
	if p.painter == nil {
		return tea.ClearScreen
	}
	p.painter.Redraw()
	return nil
}

// typed cleans what a key brings: control characters are no text.
func typed(s string) string {
	if s == "\t" {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// paste takes a bracketed paste: the dialog in front where it has a place for text, else the
// input. It answers nothing.
func (p *program) paste(s string) tea.Cmd {
	s = text.Strip(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"))
	if d := p.front(); d != nil && d.armed(time.Now()) {
		if t, ok := d.(pasteable); ok && t.paste(s) {
			if pk, ok := d.(*picker); ok {
				return pk.searched(p)
			}
			return nil
		}
		if g, ok := d.(guarded); ok { // an Enter right behind it is no answer
			g.disarm(time.Now())
		}
		p.flash("pasted into the input")
	}
	p.typing.last = time.Now()
	if s == "" { // what some terminals make of a picture
		return p.outside.pasteClipboard(false)
	}
	if p.opt.Image != nil && imageFile.MatchString(strings.TrimSpace(s)) { // a picture that was dragged here
		s = strings.TrimRight(fileWord(unquote(strings.TrimSpace(s))), " ") + " "
	}
	p.in.Paste(s)
	p.complete.menu.close()
	return nil
}

// act carries out an action that concerns the input, the transcript or the program.
func (p *program) act(a action) tea.Cmd {
	if p.in.Do(editor.Command(a)) {
		return p.complete.menuUpdate()
	}
	if p.scrollAct(a) {
		return nil
	}
	switch a {
	case actNewline:
		p.in.Newline()
		p.complete.menu.close()
	case actUp:
		if p.in.Empty() && len(p.queue) > 0 {
			p.takeBack() // else it would be sent twice
		} else if !p.in.Vertical(-1, p.compose.inputWidth()) {
			p.hist.older(p.in)
		}
	case actDown:
		if !p.in.Vertical(1, p.compose.inputWidth()) {
			p.hist.newer(p.in)
		}
	case actInterrupt:
		return p.escape()
	case actMode:
		return p.settings.nextMode()
	case actHelp:
		p.open(newHelp(p))
	case actEditor:
		return p.outside.externalEditor()
	case actSearch:
		p.open(p.panels.historyPicker())
	case actComplete:
		return p.complete.completeNow()
	case actPasteExpand:
		if !p.in.ExpandPaste() {
			p.flash("no folded paste at the cursor")
		}
	case actPasteImage:
		return p.outside.pasteClipboard(true)
	case actUnqueue:
		p.takeBack()
	case actAgents:
		if c, ok := p.findCommand("agents"); ok {
			return c.run(p, "")
		}
	case actTimes:
		p.look.times = !p.look.times
		p.restyle()
	case actExpand, actExpandAll, actCopy:
		return p.itemAct(a)
	}
	return nil
}

// scrollAct moves the window on the transcript.
func (p *program) scrollAct(a action) bool {
	switch a {
	case actPageUp:
		p.tr.scroll(&p.look, -max(p.tr.height-2, 1))
	case actPageDown:
		p.tr.scroll(&p.look, max(p.tr.height-2, 1))
	case actLineUp:
		p.tr.scroll(&p.look, -1)
	case actLineDown:
		p.tr.scroll(&p.look, 1)
	case actTop:
		p.tr.toTop()
	case actBottom:
		p.tr.toBottom()
	case actSelectPrev:
		p.tr.choose(&p.look, -1)
	case actSelectNext:
		p.tr.choose(&p.look, 1)
	default:
		return false
	}
	return true
}

// itemAct folds or copies items.
func (p *program) itemAct(a action) tea.Cmd {
	switch a {
	case actExpand:
		if !p.tr.toggle() {
			p.flash("nothing to unfold")
		}
	case actExpandAll:
		p.tr.toggleAll()
	case actCopy:
		return p.outside.copyItem()
	}
	return nil
}

// toggle unfolds or folds the chosen item, or the last one that can.
func (t *transcript) toggle() bool {
	if t.chosen >= 0 && t.chosen < len(t.items) {
		return t.items[t.chosen].toggle()
	}
	for i := len(t.items) - 1; i >= 0; i-- {
		switch it := t.items[i].(type) {
		case *callItem, *thoughtItem, *groupItem:
			return it.toggle()
		}
	}
	return false
}

// toggleAll unfolds everything, or folds it where everything is unfolded.
func (t *transcript) toggleAll() {
	open := false
	for _, it := range t.items {
		switch it := it.(type) {
		case *groupItem:
			open = open || !it.open
		case *callItem:
			open = open || !it.open
		case *thoughtItem:
			open = open || !it.open
		}
	}
	for _, it := range t.items {
		switch it := it.(type) {
		case *groupItem:
			it.open = open
			it.drop()
		case *callItem:
			it.open = open
			it.drop()
		case *thoughtItem:
			it.open = open
			it.drop()
		}
	}
}

// escape closes what is open, else stops the running turn, else takes marks away.
func (p *program) escape() tea.Cmd {
	switch {
	case p.complete.menu.active():
		p.complete.menu.close()
	case p.tr.find.active():
		p.tr.find = finder{}
	case p.tr.chosen >= 0 || p.tr.marked.dragged:
		p.tr.chosen, p.tr.marked = -1, marking{}
	case p.switcher.unswitch != nil:
		p.switcher.unswitch()
	case p.turn.busy:
		p.interrupt()
	case !p.tr.follow:
		p.tr.toBottom()
	case p.in.Empty() && len(p.tr.prompts()) > 0:
		now := time.Now()
		if now.Sub(p.escaped) < escapeTwice {
			p.escaped, p.hint.text = time.Time{}, ""
			return p.switcher.rewind("")
		}
		p.escaped = now
		p.flash("esc again goes back to an earlier prompt")
	}
	return nil
}

// escapeTwice is how soon the second Esc on an empty input must come to go back.
const escapeTwice = time.Second

func (p *program) interrupt() {
	if p.conv != nil && p.conv.Interrupt() {
		p.turn.doing = "stopping"
	}
}

// cancel is Ctrl+C: it clears the input, else stops the turn, else quits at the second press.
func (p *program) cancel() tea.Cmd {
	switch {
	case !p.in.Empty():
		p.hist.add(p.in.Text()) // Up brings it back
		p.in.Reset()
		p.complete.menu.close()
	case p.switcher.unswitch != nil:
		p.switcher.unswitch()
	case p.turn.busy && p.turn.doing != "stopping":
		p.interrupt()
	case p.hint.text == quitHint:
		return p.quit()
	default:
		p.flash(quitHint)
	}
	return nil
}

const quitHint = "press ctrl+c again to quit"

// quit leaves. Run keeps what was written and not sent.
func (p *program) quit() tea.Cmd { return tea.Quit }

// submit sends what was written: a command, a shell line or a prompt.
func (p *program) submit() tea.Cmd {
	s := p.in.Text()
	trimmed := strings.TrimSpace(s)
	if trimmed == "" {
		return nil
	}
	switch {
	case strings.HasPrefix(trimmed, "/") && !strings.Contains(firstWord(trimmed)[1:], "/"):
		return p.runCommand(trimmed)
	case strings.HasPrefix(trimmed, "!") && p.opt.Shell != nil:
		return tea.Batch(p.sent(s), p.outside.shell(strings.TrimSpace(trimmed[1:])))
	}
	if p.state.ReadOnly && p.switcher.moving == 0 {
		p.flash("this session is read only here; /fork goes on in a copy")
		return nil
	}
	prompt := agent.Prompt{Text: strings.TrimRight(s, " \n")}
	if err := p.outside.attachImages(&prompt); err != nil {
		p.say(agent.LevelWarn, err.Error())
		return nil
	}
	if n := len(prompt.Images); n > 0 && p.conv != nil && !p.conv.Sees() {
		p.say(agent.LevelWarn, p.state.Model+" takes no pictures: it only learns that "+count(n, "picture")+" came along. /model chooses another.")
	}
	if p.isOwnPlan(prompt.Text) {
		return tea.Batch(p.sent(s), p.carryOutOwn(prompt))
	}
	cmd := p.sent(s)
	p.prompt(prompt)
	return cmd
}

// prompt hands a message to the conversation, or keeps it until the one that it is for is there.
func (p *program) prompt(m agent.Prompt) {
	p.tr.toBottom()
	if p.conv == nil || p.switcher.moving > 0 {
		p.switcher.waiting = append(p.switcher.waiting, m)
		p.flash("sent as soon as " + map[bool]string{true: "the role is entered", false: "the session is ready"}[p.switcher.unswitch != nil])
		return
	}
	p.conv.Prompt(m)
}

// sent empties the input and remembers what was in it.
func (p *program) sent(s string) tea.Cmd {
	p.record.acted = true
	p.hist.add(s)
	p.in.Reset()
	p.vi.Fresh()
	p.complete.menu.close()
	p.tr.chosen, p.tr.marked = -1, marking{}
	h := p.opt.History
	if h == nil {
		return nil
	}
	p.drafts.kept = p.in.Generation()
	ctx, generation := p.ctx, p.in.Generation()
	return func() tea.Msg {
		err := h.Add(ctx, s)
		if err == nil {
			err = p.drafts.write(ctx, h, generation, "")
		}
		return said("the prompt could not be added to the history", err)
	}
}

// takeBack moves all queued messages back into the input.
func (p *program) takeBack() {
	if p.conv == nil || len(p.queue) == 0 {
		p.flash("nothing is queued")
		return
	}
	p.giveBack(p.conv.Unqueue(""))
}

// typedAs is what the person typed to send a message.
func typedAs(m agent.Prompt) string {
	s := orElse(m.Shown, m.Text)
	if m.Role != "" {
		s = "/role " + m.Role + " " + s
	}
	return s
}

// giveBack puts messages that were not sent back into the input, before what is there.
func (p *program) giveBack(messages []agent.Prompt) {
	if len(messages) == 0 {
		return
	}
	var parts []string
	for _, m := range messages {
		parts = append(parts, typedAs(m))
	}
	if !p.in.Empty() {
		parts = append(parts, p.in.Text())
	}
	p.in.SetText(strings.Join(parts, "\n"))
}

// unquote takes quotes and backslashes away that a terminal puts around a dragged file's name.
func unquote(s string) string {
	if n := len(s); n > 1 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
		s = s[1 : n-1]
	}
	return strings.ReplaceAll(strings.TrimPrefix(s, "file://"), `\ `, " ")
}

func firstWord(s string) string {
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i]
	}
	return s
}
