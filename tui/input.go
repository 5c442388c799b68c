package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/text"
	"jcode/tui/dialog"
	"jcode/tui/editor"
	"jcode/tui/keyboard"
	"jcode/tui/look"
)

// key routes a key press: to the dialog in front, the menu, or the input and transcript.
func (p *program) key(k tea.KeyPressMsg) tea.Cmd {
	now := time.Now()
	name := keyboard.Name(k)
	act := p.keys.Of(name)
	if act == look.Left && p.keys.Place(look.Background, name) > 0 && commandRuns(p.outside) {
		act = look.Background
	}
	isText := k.Text != "" && act == "" || act == look.Submit || act == look.Newline
	if cmd := p.typing.flush(p, isText); cmd != nil {
		return tea.Sequence(cmd, func() tea.Msg { return k })
	}
	defer p.typing.note(now)
	pasting := p.typing.pasting(now)
	switch act {
	case look.Suspend:
		return p.outside.suspend()
	case look.Redraw:
		return p.redraw()
	case look.Live: // whatever is open: nothing is answered by it
		return p.panels.showLive(p.keys.Place(look.Live, name))
	}
	switch d := p.stack.Front().(type) {
	case nil:
	case dialog.Guarded:
		if done, cmd := questionKey(p, d, k, act, now); done {
			return cmd
		}
	default:
		return d.Key(p, k, act)
	}
	if act == look.Cancel {
		return p.cancel()
	}
	if cmd, ok := p.complete.menuKey(k, act); ok {
		return cmd
	}
	if act == look.Submit {
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
		return p.Act(act)
	}
	if letter := keyboard.Letter(k); p.tr.Find.Found() && p.in.Empty() && (letter == "n" || letter == "N") {
		delta := -1
		if letter == "N" {
			delta = 1
		}
		p.tr.SearchStep(&p.look, delta)
		return nil
	}
	if k.Text != "" {
		p.tr.Chosen = -1
		var fold tea.Cmd
		if k.Text == " " { // it ends a word
			fold = p.outside.foldPictures(lastMention(p.in.Before()))
		}
		p.in.Insert(dialog.Typed(k.Text))
		return tea.Batch(fold, p.complete.menuUpdate())
	}
	return nil
}

// viKey passes a key to the vi keys; ok is false for keys that keep their usual meaning.
func (p *program) viKey(k tea.KeyPressMsg, act look.Action) (cmd tea.Cmd, ok bool) {
	if p.vi.Writing() && (act != look.Interrupt || p.menu.active()) {
		return nil, false
	}
	name := keyboard.Letter(k)
	switch {
	case act == look.Interrupt:
		name = "esc"
	case k.Text != "" && p.vi.TakesText():
		name = k.Text
	}
	switch ask, times := p.vi.Key(p.in, name); ask {
	case editor.Other:
		return nil, false
	case editor.LineUp, editor.LineDown:
		move := look.Up
		if ask == editor.LineDown {
			move = look.Down
		}
		for range times {
			p.Act(move)
		}
		p.vi.Clamp(p.in)
	case editor.Search:
		return p.Act(look.Search), true
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
	d := p.stack.Front()
	q, asks := d.(dialog.Guarded)
	if d != nil && d.Armed(time.Now()) && (!asks || p.in.Empty() || q.Attended() || q.Owns()) {
		if t, ok := d.(dialog.Pasteable); ok && t.Paste(s) {
			if pk, ok := d.(*dialog.Picker); ok {
				return pk.Searched(p)
			}
			return nil
		}
	}
	if d != nil {
		if asks { // an Enter right after it is not an answer
			q.Disarm(time.Now())
		}
		p.Flash("pasted into the input")
	}
	p.typing.last = time.Now()
	if s == "" { // some terminals send this for a picture
		return p.outside.pasteClipboard(false, p.paste)
	}
	var fold tea.Cmd
	if p.opt.Image != nil && imageFile().MatchString(strings.TrimSpace(s)) { // a picture that was dragged here
		s = strings.TrimRight(fileWord(unquote(strings.TrimSpace(s))), " ") + " "
		fold = p.outside.foldPictures(s)
	}
	p.in.Paste(s)
	p.menu.close()
	return fold
}

// Act performs an action that concerns the input, the transcript or the program.
func (p *program) Act(a look.Action) tea.Cmd {
	if p.in.Do(editor.Command(a)) {
		return p.complete.menuUpdate()
	}
	if p.tr.ScrollAct(&p.look, a) {
		return nil
	}
	switch a {
	case look.Newline:
		p.in.Newline()
		p.menu.close()
	case look.Up:
		if p.in.Empty() && len(p.queue) > 0 {
			p.sender.takeBack() // otherwise it would be sent twice
		} else if !p.in.Vertical(-1, p.inputWidth()) {
			p.hist.older(p.in)
			return p.outside.foldPictures(p.in.Text())
		}
	case look.Down:
		if !p.in.Vertical(1, p.inputWidth()) {
			p.hist.newer(p.in)
			return p.outside.foldPictures(p.in.Text())
		}
	case look.Interrupt:
		return p.escape()
	case look.Cancel:
		return p.cancel()
	case look.Model:
		return p.settings.model("")
	case look.Effort:
		return p.settings.effort("")
	case look.Prompts:
		return goToPrompt(p.scene)
	case look.Find:
		return p.findNext()
	case look.Stash:
		p.menu.close()
		p.Flash(p.stash.swap(p.in, p.keys.First(look.Stash)))
	case look.Mode:
		return p.settings.nextMode()
	case look.Help:
		return p.showHelp()
	case look.Editor:
		return p.outside.externalEditor()
	case look.Search:
		p.Open(p.panels.historyPicker())
	case look.Complete:
		return p.complete.completeNow()
	case look.PasteExpand:
		if !p.in.ExpandPaste() {
			p.Flash("no folded paste at the cursor")
		}
	case look.PasteImage:
		return p.outside.pasteClipboard(true, p.paste)
	case look.Unqueue:
		p.sender.takeBack()
	case look.Agents:
		if len(p.stack.Later) > 0 {
			p.stack.Bring()
			return nil
		}
		if c, ok := p.slashes.find("agents"); ok {
			return c.run("")
		}
	case look.Background:
		if commandRuns(p.outside) {
			return toBackground(p.outside)
		}
		p.Flash("no command runs")
	case look.Times:
		p.look.Times = !p.look.Times
		p.restyle()
	case look.Expand, look.ExpandAll, look.Copy:
		return p.itemAct(a)
	}
	return nil
}

// itemAct folds or copies items.
func (p *program) itemAct(a look.Action) tea.Cmd {
	switch a {
	case look.Expand:
		if !p.tr.Toggle() {
			p.Flash("nothing to unfold")
		}
	case look.ExpandAll:
		p.tr.ToggleAll()
	case look.Copy:
		return p.outside.copyItem()
	}
	return nil
}
