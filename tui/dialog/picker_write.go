package dialog

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/tools/command"
	"jcode/tui/look"
)

// writing is what the person writes for a row, in place of the search, and the action that it is for.
type writing struct {
	field
	action *command.Action
	row    command.Row
}

// write opens a field with the row's name; Enter runs the action with what it holds.
func (pk *Picker) write(a *command.Action, r command.Row) {
	pk.Note = ""
	pk.writing = &writing{NewField(), a, r}
	pk.writing.Paste(r.Name)
}

// writeKey handles a key while the field is open.
func (pk *Picker) writeKey(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	w := pk.writing
	switch act {
	case look.Interrupt, look.Cancel:
		pk.writing = nil
	case look.Submit:
		s := strings.TrimSpace(w.Editor.Text())
		if s == "" {
			return nil
		}
		pk.writing, pk.Note = nil, w.action.Label+" …"
		return Fetch(h, func(ctx context.Context) (string, error) { return w.action.Write(ctx, w.row, s) }, pk.done)
	default:
		w.key(k, act)
	}
	return nil
}
