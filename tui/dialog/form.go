package dialog

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

// Form is a question with fields. The two positions after the fields are its buttons.
type Form struct {
	guard
	ID     string
	send   func(a tools.FormAnswer) error
	from   string
	person bool // no call waits for it
	ask    string
	labels [2]string // of the answers
	Fields []*formField
	At     int  // the field with the cursor; then send, then decline; none in the beginning if there are no fields
	scroll int  // first body line shown
	free   bool // the person scrolls: the field with the cursor may be out of view
}

func NewForm(ev event.AskForm, send func(a tools.FormAnswer) error) *Form {
	f := &Form{guard: newGuard(), ID: ev.ID, send: send, person: ev.Form.Person, from: look.OneLine(text.Clean(ev.Form.From)), ask: strings.TrimSpace(text.Clean(ev.Form.Text))}
	f.labels = [2]string{cmp.Or(look.OneLine(text.Clean(ev.Form.Yes)), "yes"), cmp.Or(look.OneLine(text.Clean(ev.Form.No)), "no")}
	for _, field := range ev.Form.Fields {
		f.Fields = append(f.Fields, newFormField(field))
	}
	if f.Fields == nil {
		f.At = None
	}
	return f
}

// TakesText says that text goes into the fields.
func (f *Form) TakesText() bool { return len(f.Fields) > 0 }

// OnSend and onDecline report whether the cursor is on a button.
func (f *Form) OnSend() bool    { return f.At == len(f.Fields) }
func (f *Form) onDecline() bool { return f.At == len(f.Fields)+1 }

// current returns the field with the cursor, nil on a button.
func (f *Form) current() *formField {
	if f.At >= 0 && f.At < len(f.Fields) {
		return f.Fields[f.At]
	}
	return nil
}

func (f *Form) Paste(s string) bool {
	c := f.current()
	if c == nil || c.options != nil {
		return false
	}
	f.free = false
	c.paste(s)
	return true
}

func (f *Form) Key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
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
		if h.Busy() && !f.person { // its call ends, and the form with it
			h.Interrupt()
			return nil
		}
		return f.reply(h, tools.FormAnswer{Action: tools.FormCancel})
	case look.Up, look.Mode: // shift+tab moves back here
		f.Move(-1)
		return nil
	case look.Down, look.Complete:
		f.Move(1)
		return nil
	case look.Submit:
		if f.current() == nil && !f.turned {
			h.Flash("↑↓ chooses, then enter")
			return nil
		}
		return f.submit(h)
	}
	f.free = false
	if f.Fields == nil {
		return f.letter(h, k, act)
	}
	f.turned = true
	if c := f.current(); c != nil {
		c.key(k, act)
		return nil
	}
	if act == look.Left || act == look.Right {
		f.At = len(f.Fields) + (f.At-len(f.Fields)+1)%2
	}
	return nil
}

// letter answers a form without fields.
func (f *Form) letter(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	answer := map[string]tools.FormAction{"y": tools.FormAccept, "n": tools.FormDecline}[keyboard.Letter(k)]
	switch {
	case act == look.Left || act == look.Right:
		f.Move(1)
	case act == "" && answer != "":
		return f.hold(k.Text, func() tea.Cmd { return f.reply(h, tools.FormAnswer{Action: answer, Values: map[string]any{}}) })
	case act == "":
		f.stray(h, k)
	}
	return nil
}

// Move moves the cursor to another position and checks what was written into the one it leaves.
func (f *Form) Move(by int) {
	f.free, f.turned = false, true
	if c := f.current(); c != nil && c.Touched {
		c.Check()
	}
	places := len(f.Fields) + 2
	if f.At == None && by < 0 {
		f.At = 0
	}
	f.At = (f.At + by + places) % places
}

// submit is Enter: it moves to the next position, or answers.
func (f *Form) submit(h host) tea.Cmd {
	switch c := f.current(); {
	case c != nil:
		if f.free = false; c.Check() {
			f.At++
		}
		return nil
	case f.onDecline():
		return f.reply(h, tools.FormAnswer{Action: tools.FormDecline})
	}
	values := map[string]any{}
	for i := len(f.Fields) - 1; i >= 0; i-- {
		c := f.Fields[i]
		if !c.Check() {
			f.At, f.free = i, false // the first one that is still wrong
			continue
		}
		if v, _ := c.value(); v != nil {
			values[c.spec.Name] = v
		}
	}
	if !f.OnSend() {
		return nil
	}
	return f.reply(h, tools.FormAnswer{Action: tools.FormAccept, Values: values})
}

func (f *Form) reply(h host, a tools.FormAnswer) tea.Cmd {
	h.Close(f)
	if err := f.send(a); err != nil {
		h.Say(event.LevelInfo, err.Error())
		return nil
	}
	said := map[tools.FormAction]string{
		tools.FormAccept: "You answered ", tools.FormDecline: "You declined to answer ", tools.FormCancel: "You cancelled the form of ",
	}[a.Action] + f.from
	if a.Action == tools.FormAccept {
		var names []string
		for _, c := range f.Fields {
			if _, has := a.Values[c.spec.Name]; has {
				names = append(names, c.Label)
			}
		}
		if len(names) > 0 {
			said += ": " + strings.Join(names, ", ")
		}
	}
	h.Say(event.LevelInfo, said+".")
	return nil
}

func (f *Form) Draw(l *look.Look, width, height int) (lines []string, cursor *Pos) {
	lines = append(lines, look.TitleRule(l, l.Tilde(f.from)+" asks", width, l.Theme.Info))
	foot := untilArmed(l, width)
	if f.Open {
		foot = []string{f.hints(l, width)}
		if l.Beside {
			foot = []string{asideHints(l, width)}
		}
	}
	room := max(height-len(lines)-len(foot), 1)
	body, first, last, cursor := f.body(l, width)
	if !f.free && (f.At > 0 || len(body) <= room || f.Fields == nil || f.Fields[0].Touched) {
		f.scroll = min(max(f.scroll, last-room), first)
	}
	f.scroll = max(min(f.scroll, len(body)-room), 0)
	end := min(f.scroll+room, len(body))
	if cursor != nil {
		if cursor.Row < f.scroll || cursor.Row >= end {
			cursor = nil
		} else {
			cursor.Row += len(lines) - f.scroll
		}
	}
	lines = append(lines, body[f.scroll:end]...)
	return append(lines, foot...), cursor
}

func (f *Form) hints(l *look.Look, width int) string {
	pairs := []string{"enter", "next", "esc", "cancel"}
	switch c := f.current(); {
	case f.Fields == nil:
		return look.Hints(l, width, "↑↓ enter", "choose", "esc", "cancel")
	case f.OnSend():
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
func (f *Form) body(l *look.Look, width int) (lines []string, first, last int, cursor *Pos) {
	for _, spans := range cells.Wrap([]cells.Span{{Text: f.ask}}, max(look.Prose(width)-2, 1)) {
		lines = append(lines, "  "+cells.Render(spans))
	}
	if f.Fields == nil && !f.Open {
		return lines, 0, 0, nil
	}
	lines = append(lines, "")
	if f.Fields == nil {
		first = len(lines)
		for i, key := range []string{"y", "n"} {
			lines = append(lines, answerRow(l, f.At == i, key, f.labels[i], width)...)
		}
		return lines, first, len(lines), nil
	}
	labels := 0
	for _, c := range f.Fields {
		labels = max(labels, cells.Width(c.Label)+2)
	}
	labels = min(labels, max(width*2/5, 8))
	for i, c := range f.Fields {
		at := len(lines)
		drawn, x := c.draw(l, width, labels, i == f.At)
		lines = append(lines, drawn...)
		if i == f.At {
			first, last = at, len(lines)
			if x != nil {
				cursor = &Pos{at + x.Row, x.Col}
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
	row := []cells.Span{{Text: "   "}, button("send", f.OnSend()), {Text: "  "}, button("decline", f.onDecline())}
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
