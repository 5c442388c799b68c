package dialog

import (
	tea "charm.land/bubbletea/v2"

	"jcode/tools/command"
	"jcode/tui/look"
)

// Help lists keys and commands, from the tables that the program uses.
type Help struct{ *Picker }

func NewHelp(rows []command.Row) *Help {
	h := &Help{NewPicker("Keys and commands", rows, nil)}
	h.infoFirst = true
	return h
}

func (v *Help) Key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	if act == look.Interrupt || act == look.Cancel || act == look.Submit || act == look.Help {
		h.Close(v)
		return nil
	}
	return v.Picker.Key(h, k, act)
}
