package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/tools/command"
	"jcode/tui/editor"
	"jcode/tui/look"
)

// helpView lists keys and commands, from the tables that the program uses.
type helpView struct{ *picker }

func newHelp(p *program) *helpView {
	var rows []command.Row
	keys := func(group string) {
		for _, r := range p.keys.Rows {
			if len(r.Keys) > 0 && r.Group == group {
				rows = append(rows, command.Row{Name: strings.Join(r.Keys, "  "), Info: r.Help, State: r.Group, Search: string(r.Act)})
			}
		}
	}
	for _, group := range []string{"Program", "Input", "Transcript"} {
		keys(group)
	}
	for _, c := range p.slashes.list() {
		rows = append(rows, command.Row{Name: "/" + c.name, Info: c.describe(), State: "Command"})
	}
	if p.opt.Vi {
		for _, v := range editor.Help() {
			rows = append(rows, command.Row{Name: v[0], Info: v[1], State: "Vi"})
		}
	}
	for _, extra := range [][2]string{{"@path", "name a file; tab completes"}, {"!command", "run a shell line yourself"}} {
		rows = append(rows, command.Row{Name: extra[0], Info: extra[1], State: "Input"})
	}
	keys("Editing") // as everywhere
	h := &helpView{newPicker("Keys and commands", rows, nil)}
	h.infoFirst = true
	return h
}

func (v *helpView) key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	if act == look.Interrupt || act == look.Cancel || act == look.Submit || act == look.Help {
		h.close(v)
		return nil
	}
	return v.picker.key(h, k, act)
}
