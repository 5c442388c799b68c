package tui

import (
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/text"
	"jcode/tools"
	"jcode/tui/editor"
	"jcode/tui/look"
)

// wordKey edits the message to the model that is sent with a refusal.
func (a *approval) wordKey(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	switch act {
	case look.Submit:
		for i, o := range a.q.Options {
			if o.Scope == tools.AnswerNo {
				return a.reply(h, i, a.word.ed.Text())
			}
		}
		return a.reply(h, -1, a.word.ed.Text())
	case look.Interrupt, look.Cancel:
		a.word = nil
	default:
		a.word.key(k, act)
	}
	return nil
}

// argument returns the argument that may be edited; ok is false if the editor would not preserve every byte
// of it.
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

// beginEdit opens the argument for editing.
func (a *approval) beginEdit(h host) {
	s, ok := a.argument()
	if !ok {
		h.flash("this cannot be edited here: refuse it with a word instead")
		return
	}
	a.edit = editor.New()
	a.edit.SetText(s)
}

// editKey edits the argument; Enter accepts the change, Esc discards it.
func (a *approval) editKey(k tea.KeyPressMsg, act look.Action) {
	switch act {
	case look.Submit:
		a.take(a.edit.Text())
		a.edit = nil
	case look.Interrupt, look.Cancel:
		a.edit = nil
	case look.Newline:
		a.edit.Newline()
	case look.Up:
		a.edit.Vertical(-1, max(a.width-4, 1))
	case look.Down:
		a.edit.Vertical(1, max(a.width-4, 1))
	default:
		if !a.edit.Do(editor.Command(act)) && act == "" && k.Text != "" {
			a.edit.Insert(typed(k.Text))
		}
	}
}

// take replaces the model's argument with an edited one.
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

// dropGrants removes the answers that would last longer than this call: they refer to the call before it was
// edited.
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
		a.q.Options, a.numbers, a.at = once, numbers, none
	}
}

// number returns the index of a shown option among those of the question.
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
