package dialog

import (
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/text"
	"jcode/tools"
	"jcode/tui/editor"
	"jcode/tui/look"
)

// wordKey edits the message to the model that is sent with a refusal.
func (a *Approval) wordKey(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	switch act {
	case look.Submit:
		for i, o := range a.Asked.Options {
			if o.Scope == tools.AnswerNo {
				return a.reply(h, i, a.Word.Editor.Text())
			}
		}
		return a.reply(h, -1, a.Word.Editor.Text())
	case look.Interrupt, look.Cancel:
		a.Word = nil
	default:
		a.Word.key(k, act)
	}
	return nil
}

// argument returns the argument that may be edited; ok is false if the editor would not preserve every byte
// of it.
func (a *Approval) argument() (value string, ok bool) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(a.Asked.Arguments, &m); err != nil {
		return "", false
	}
	if err := json.Unmarshal(m[a.Asked.Editable], &value); err != nil {
		return "", false
	}
	return value, editor.Keeps(value) && text.Clean(value) == value
}

// beginEdit opens the argument for editing.
func (a *Approval) beginEdit(h host) {
	s, ok := a.argument()
	if !ok {
		h.Flash("this cannot be edited here: refuse it with a word instead")
		return
	}
	a.Edit = editor.New()
	a.Edit.SetText(s)
}

// editKey edits the argument; Enter accepts the change, Esc discards it.
func (a *Approval) editKey(k tea.KeyPressMsg, act look.Action) {
	switch act {
	case look.Submit:
		a.take(a.Edit.Text())
		a.Edit = nil
	case look.Interrupt, look.Cancel:
		a.Edit = nil
	case look.Newline:
		a.Edit.Newline()
	case look.Up:
		a.Edit.Vertical(-1, max(a.width-4, 1))
	case look.Down:
		a.Edit.Vertical(1, max(a.width-4, 1))
	default:
		if !a.Edit.Do(editor.Command(act)) && act == "" && k.Text != "" {
			a.Edit.Insert(Typed(k.Text))
		}
	}
}

// take replaces the model's argument with an edited one.
func (a *Approval) take(value string) {
	var m map[string]json.RawMessage
	raw, err := json.Marshal(value)
	if before, ok := a.argument(); err != nil || !ok || value == before || json.Unmarshal(a.Asked.Arguments, &m) != nil {
		return
	}
	m[a.Asked.Editable] = raw
	if args, err := json.Marshal(m); err == nil {
		a.Asked.Arguments, a.edited = args, true
		a.dropGrants()
		if a.Asked.Command != "" {
			a.Asked.Command = value
		}
		a.lay()
	}
}

// dropGrants removes the answers that would last longer than this call: they refer to the call before it was
// edited.
func (a *Approval) dropGrants() {
	var once []tools.AnswerOption
	numbers := map[int]int{}
	for i, o := range a.Asked.Options {
		if o.Scope == tools.AnswerOnce || o.Scope == tools.AnswerNo {
			numbers[len(once)] = a.number(i)
			once = append(once, o)
		}
	}
	if len(once) > 0 {
		a.Asked.Options, a.numbers, a.at = once, numbers, None
	}
}

// number returns the index of a shown option among those of the question.
func (a *Approval) number(i int) int {
	if n, ok := a.numbers[i]; ok {
		return n
	}
	return i
}

func (a *Approval) Paste(s string) bool {
	switch {
	case a.Word != nil:
		a.Word.Paste(s)
	case a.Edit != nil:
		a.Edit.Insert(s)
	default:
		return false
	}
	return true
}
