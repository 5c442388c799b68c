package tui

import (
	"strings"

	"jcode/internal/text"
	"jcode/tools/command"
	"jcode/tui/editor"
	"jcode/tui/look"
)

// help lists keys and commands, from the tables that the program uses.
func (p *slashes) help() []command.Row {
	var rows []command.Row
	keys := func(group string) {
		for _, r := range p.keys.Rows {
			if len(r.Keys) > 0 && r.Group == group {
				rows = append(rows, command.Row{Name: strings.Join(look.Named(r.Keys), "  "), Info: r.Help, State: r.Group, Search: string(r.Act)})
			}
		}
	}
	for _, group := range []string{"Program", "Input", "Transcript"} {
		keys(group)
	}
	for _, c := range p.list() {
		rows = append(rows, command.Row{Name: "/" + c.name, Info: c.describe(), State: "Command"})
		for _, v := range c.verbs {
			rows = append(rows, command.Row{Name: "/" + c.name + " " + v.Form(), Info: text.Clean(v.Help), State: "Command"})
		}
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
	return rows
}
