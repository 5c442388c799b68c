package dialog

import (
	tea "charm.land/bubbletea/v2"

	"jcode/tools/command"
	"jcode/tui/look"
)

// Help lists keys and commands, from the tables that the program uses.
type Help struct{ *Picker }

// NewHelp returns the list. choose gets the row that Enter chooses; of a row with an empty list of Keys it only closes
// the help.
func NewHelp(rows []command.Row, choose func(r command.Row) tea.Cmd) *Help {
	h := &Help{NewPicker("Keys and commands", rows, choose)}
	h.infoFirst = true
	return h
}

func (v *Help) Key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	if act == look.Interrupt || act == look.Cancel || act == look.Submit || act == look.Help {
		h.Close(v)
		if r, ok := v.Current(); ok && act == look.Submit && r.Keys == nil {
			return v.Choose(r)
		}
		return nil
	}
	return v.Picker.Key(h, k, act)
}
