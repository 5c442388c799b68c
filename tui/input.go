package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/text"
	"jcode/tui/editor"
	"jcode/tui/keyboard"
)

// key routes a key press: to the dialog in front, the menu, or the input and transcript.
func (p *program) key(k tea.KeyPressMsg) tea.Cmd {
	now := time.Now()
	name := keyboard.Name(k)
	act := p.keys.of(name)
	if name == backgroundKey && act == actLeft && commandRuns(&p.outside) {
		act = actBackground
	}
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
	switch d := p.front().(type) {
	case nil:
	case guarded:
		if done, cmd := questionKey(p, d, k, act, now); done {
			return cmd
		}
	default:
		return d.key(p, k, act)
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
		case p.typing.fast(now) && !p.in.Empty() && !p.sender.isCommand():
			return p.typing.hold()
		}
		return p.sender.submit()
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
		var fold tea.Cmd
		if k.Text == " " { // it ends a word
			fold = p.outside.foldPictures(lastMention(p.in.Before()))
		}
		p.in.Insert(typed(k.Text))
		return tea.Batch(fold, p.complete.menuUpdate())
	}
	return nil
}

// viKey passes a key to the vi keys; ok is false for keys that keep their usual meaning.
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

// redraw repaints the whole screen: another program may have written to it.
func (p *program) redraw() tea.Cmd {
	if p.painter == nil {
		return tea.ClearScreen
	}
	p.painter.Redraw()
	return nil
}

// paste handles a bracketed paste: the dialog in front takes it if it has a text field, otherwise the input.
// It is never an answer.
func (p *program) paste(s string) tea.Cmd {
	s = text.Strip(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"))
	d := p.front()
	q, asks := d.(guarded)
	if d != nil && d.armed(time.Now()) && (!asks || p.in.Empty() || q.attended() || q.owns()) {
		if t, ok := d.(pasteable); ok && t.paste(s) {
			if pk, ok := d.(*picker); ok {
				return pk.searched(p)
			}
			return nil
		}
	}
	if d != nil {
		if asks { // an Enter right after it is not an answer
			q.disarm(time.Now())
		}
		p.flash("pasted into the input")
	}
	p.typing.last = time.Now()
	if s == "" { // some terminals send this for a picture
		return p.outside.pasteClipboard(false)
	}
	var fold tea.Cmd
	if p.opt.Image != nil && imageFile().MatchString(strings.TrimSpace(s)) { // a picture that was dragged here
		s = strings.TrimRight(fileWord(unquote(strings.TrimSpace(s))), " ") + " "
		fold = p.outside.foldPictures(s)
	}
	p.in.Paste(s)
	p.complete.menu.close()
	return fold
}

// act performs an action that concerns the input, the transcript or the program.
func (p *program) act(a action) tea.Cmd {
	if p.in.Do(editor.Command(a)) {
		return p.complete.menuUpdate()
	}
	if p.tr.scrollAct(&p.look, a) {
		return nil
	}
	switch a {
	case actNewline:
		p.in.Newline()
		p.complete.menu.close()
	case actUp:
		if p.in.Empty() && len(p.queue) > 0 {
			p.sender.takeBack() // otherwise it would be sent twice
		} else if !p.in.Vertical(-1, p.compose.inputWidth()) {
			p.hist.older(p.in)
			return p.outside.foldPictures(p.in.Text())
		}
	case actDown:
		if !p.in.Vertical(1, p.compose.inputWidth()) {
			p.hist.newer(p.in)
			return p.outside.foldPictures(p.in.Text())
		}
	case actInterrupt:
		return p.escape()
	case actCancel:
		return p.cancel()
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
		p.sender.takeBack()
	case actAgents:
		if len(p.later) > 0 {
			bring(p)
			return nil
		}
		if c, ok := p.slashes.find("agents"); ok {
			return c.run(p, "")
		}
	case actBackground:
		if commandRuns(&p.outside) {
			return toBackground(&p.outside)
		}
		p.flash("no command runs")
	case actTimes:
		p.look.times = !p.look.times
		p.restyle()
	case actExpand, actExpandAll, actCopy:
		return p.itemAct(a)
	}
	return nil
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
