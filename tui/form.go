package tui

import (
	"cmp"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tui/keyboard"
	"jcode/tui/look"
)

// form is a question with fields. The two positions after the fields are its buttons.
type form struct {
	guard
	id     string
	send   func(a tools.FormAnswer) error
	from   string
	person bool // no call waits for it
	ask    string
	labels [2]string // of the answers
	fields []*formField
	at     int  // the field with the cursor; then send, then decline; none in the beginning if there are no fields
	scroll int  // first body line shown
	free   bool // the person scrolls: the field with the cursor may be out of view
}

func newForm(ev event.AskForm, send func(a tools.FormAnswer) error) *form {
	f := &form{guard: newGuard(), id: ev.ID, send: send, person: ev.Form.Person, from: look.OneLine(text.Clean(ev.Form.From)), ask: strings.TrimSpace(text.Clean(ev.Form.Text))}
	f.labels = [2]string{cmp.Or(look.OneLine(text.Clean(ev.Form.Yes)), "yes"), cmp.Or(look.OneLine(text.Clean(ev.Form.No)), "no")}
	for _, field := range ev.Form.Fields {
		f.fields = append(f.fields, newFormField(field))
	}
	if f.fields == nil {
		f.at = none
	}
	return f
}

// takesText says that text goes into the fields.
func (f *form) takesText() bool { return len(f.fields) > 0 }

// onSend and onDecline report whether the cursor is on a button.
func (f *form) onSend() bool    { return f.at == len(f.fields) }
func (f *form) onDecline() bool { return f.at == len(f.fields)+1 }

// current returns the field with the cursor, nil on a button.
func (f *form) current() *formField {
	if f.at >= 0 && f.at < len(f.fields) {
		return f.fields[f.at]
	}
	return nil
}

func (f *form) paste(s string) bool {
	c := f.current()
	if c == nil || c.options != nil {
		return false
	}
	f.free = false
	c.paste(s)
	return true
}

func (f *form) key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	switch act {
	case look.PageUp, look.LineUp:
		f.scroll, f.free = max(f.scroll-5, 0), true
		return nil
	case look.PageDown, look.LineDown:
		f.scroll, f.free = f.scroll+5, true
		return nil
	case look.Interrupt:
		return f.reply(h, tools.FormAnswer{Action: tools.FormCancel})
	case look.Cancel:
		if h.busy() && !f.person { // its call ends, and the form with it
			h.interrupt()
			return nil
		}
		return f.reply(h, tools.FormAnswer{Action: tools.FormCancel})
	case look.Up, look.Mode: // shift+tab moves back here
		f.move(-1)
		return nil
	case look.Down, look.Complete:
		f.move(1)
		return nil
	case look.Submit:
		if f.current() == nil && !f.turned {
			h.flash("↑↓ chooses, then enter")
			return nil
		}
		return f.submit(h)
	}
	f.free = false
	if f.fields == nil {
		return f.letter(h, k, act)
	}
	f.turned = true
	if c := f.current(); c != nil {
		c.key(k, act)
		return nil
	}
	if act == look.Left || act == look.Right {
		f.at = len(f.fields) + (f.at-len(f.fields)+1)%2
	}
	return nil
}

// letter answers a form without fields.
func (f *form) letter(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	answer := map[string]tools.FormAction{"y": tools.FormAccept, "n": tools.FormDecline}[keyboard.Letter(k)]
	switch {
	case act == look.Left || act == look.Right:
		f.move(1)
	case act == "" && answer != "":
		return f.hold(k.Text, func() tea.Cmd { return f.reply(h, tools.FormAnswer{Action: answer, Values: map[string]any{}}) })
	case act == "":
		f.stray(h, k)
	}
	return nil
}

// move moves the cursor to another position and checks what was written into the one it leaves.
func (f *form) move(by int) {
	f.free, f.turned = false, true
	if c := f.current(); c != nil && c.touched {
		c.check()
	}
	places := len(f.fields) + 2
	if f.at == none && by < 0 {
		f.at = 0
	}
	f.at = (f.at + by + places) % places
}

// submit is Enter: it moves to the next position, or answers.
func (f *form) submit(h host) tea.Cmd {
	switch c := f.current(); {
	case c != nil:
		if f.free = false; c.check() {
			f.at++
		}
		return nil
	case f.onDecline():
		return f.reply(h, tools.FormAnswer{Action: tools.FormDecline})
	}
	values := map[string]any{}
	for i := len(f.fields) - 1; i >= 0; i-- {
		c := f.fields[i]
		if !c.check() {
			f.at, f.free = i, false // the first one that is still wrong
			continue
		}
		if v, _ := c.value(); v != nil {
			values[c.spec.Name] = v
		}
	}
	if !f.onSend() {
		return nil
	}
	return f.reply(h, tools.FormAnswer{Action: tools.FormAccept, Values: values})
}

func (f *form) reply(h host, a tools.FormAnswer) tea.Cmd {
	h.close(f)
	if err := f.send(a); err != nil {
		h.say(event.LevelInfo, err.Error())
		return nil
	}
	said := map[tools.FormAction]string{
		tools.FormAccept: "You answered ", tools.FormDecline: "You declined to answer ", tools.FormCancel: "You cancelled the form of ",
	}[a.Action] + f.from
	if a.Action == tools.FormAccept {
		var names []string
		for _, c := range f.fields {
			if _, has := a.Values[c.spec.Name]; has {
				names = append(names, c.label)
			}
		}
		if len(names) > 0 {
			said += ": " + strings.Join(names, ", ")
		}
	}
	h.say(event.LevelInfo, said+".")
	return nil
}

func (f *form) draw(l *look.Look, width, height int) (lines []string, cursor *pos) {
	lines = append(lines, look.TitleRule(l, f.from+" asks", width, l.Theme.Info))
	foot := untilArmed(l, width)
	if f.open {
		foot = []string{f.hints(l, width)}
		if l.Beside {
			foot = []string{asideHints(l, width)}
		}
	}
	room := max(height-len(lines)-len(foot), 1)
	body, first, last, cursor := f.body(l, width)
	if !f.free && (f.at > 0 || len(body) <= room || f.fields == nil || f.fields[0].touched) {
		f.scroll = min(max(f.scroll, last-room), first)
	}
	f.scroll = max(min(f.scroll, len(body)-room), 0)
	end := min(f.scroll+room, len(body))
	if cursor != nil {
		if cursor.row < f.scroll || cursor.row >= end {
			cursor = nil
		} else {
			cursor.row += len(lines) - f.scroll
		}
	}
	lines = append(lines, body[f.scroll:end]...)
	return append(lines, foot...), cursor
}

func (f *form) hints(l *look.Look, width int) string {
	pairs := []string{"enter", "next", "esc", "cancel"}
	switch c := f.current(); {
	case f.fields == nil:
		return look.Hints(l, width, "↑↓ enter", "choose", "esc", "cancel")
	case f.onSend():
		pairs[1] = "send"
	case f.onDecline():
		pairs[1] = "decline"
	case c.spec.Kind == tools.FieldBoolean, c.spec.Kind == tools.FieldChoice:
		pairs = append(pairs, "←→ space", "change")
	case c.spec.Kind == tools.FieldChoices:
		pairs = append(pairs, "←→", "move", "space", "mark")
	}
	return look.Hints(l, width, append(pairs, "↑↓", "other field")...)
}

// body draws everything between title and hints. The lines from first to last belong to the position of the
// cursor.
func (f *form) body(l *look.Look, width int) (lines []string, first, last int, cursor *pos) {
	for _, spans := range cells.Wrap([]cells.Span{{Text: f.ask}}, max(look.Prose(width)-2, 1)) {
		lines = append(lines, "  "+cells.Render(spans))
	}
	lines = append(lines, "")
	if f.fields == nil {
		first = len(lines)
		for i, key := range []string{"y", "n"} {
			lines = append(lines, answerRow(l, f.at == i, key, f.labels[i], width)...)
		}
		return lines, first, len(lines), nil
	}
	labels := 0
	for _, c := range f.fields {
		labels = max(labels, cells.Width(c.label)+2)
	}
	labels = min(labels, max(width*2/5, 8))
	for i, c := range f.fields {
		at := len(lines)
		drawn, x := c.draw(l, width, labels, i == f.at)
		lines = append(lines, drawn...)
		if i == f.at {
			first, last = at, len(lines)
			if x != nil {
				cursor = &pos{at + x.row, x.col}
			}
		}
	}
	button := func(name string, chosen bool) cells.Span {
		if chosen {
			return cells.Span{Text: "› " + name + " ‹", Style: l.Theme.Selected}
		}
		return cells.Span{Text: "[ " + name + " ]", Style: l.Theme.Strong}
	}
	if f.current() == nil {
		first, last = len(lines), len(lines)+1
	}
	row := []cells.Span{{Text: "   "}, button("send", f.onSend()), {Text: "  "}, button("decline", f.onDecline())}
	return append(lines, cells.Render(look.Clip(row, width))), first, last, cursor
}

// letter returns the single letter or digit that a key types, 0 if it types none.
func letter(k tea.KeyPressMsg) rune {
	r := []rune(k.Text)
	if len(r) != 1 || !unicode.IsLetter(r[0]) && !unicode.IsDigit(r[0]) {
		return 0
	}
	return unicode.ToLower(r[0])
}
