package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/text"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/editor"
	"jcode/tui/look"
)

// showHelp opens the help. Enter writes a command, or does what a key does.
func (p *program) showHelp() tea.Cmd {
	p.Open(dialog.NewHelp(p.slashes.help(), func(r command.Row) tea.Cmd {
		if act := look.Action(r.ID); act.Chosen() {
			if act == look.Redraw {
				return p.redraw()
			}
			return p.Act(act)
		}
		if !p.in.Empty() && r.ID != "@" {
			p.holdsText()
			return nil
		}
		p.in.Insert(r.ID)
		return p.complete.menuUpdate()
	}))
	return nil
}

// holdsText says that the input is not free for a command.
func (p *program) holdsText() {
	p.Flash("the input holds text: " + p.keys.First(look.Stash) + " puts it aside")
}

// written is what Enter on a command in the help writes: without what is to be filled in, ready for it.
func written(name, hint string) string {
	if hint == "" {
		return name
	}
	return name + " "
}

// help lists keys and commands, from the tables that the program uses. The ID of a row is its action, or what Enter
// writes; rows that only tell something have an empty list of keys.
func (p *slashes) help() []command.Row {
	var rows []command.Row
	keys := func(group string) {
		for _, r := range p.keys.Rows {
			if len(r.Keys) > 0 && r.Group == group {
				row := command.Row{ID: string(r.Act), Name: strings.Join(look.Named(r.Keys), "  "), Info: r.Help, State: r.Group, Search: string(r.Act)}
				if !r.Act.Chosen() {
					row.Keys = []string{}
				}
				rows = append(rows, row)
			}
		}
	}
	for _, group := range []string{"Program", "Input", "Transcript"} {
		keys(group)
	}
	for _, c := range p.list() {
		rows = append(rows, command.Row{ID: written("/"+c.name, c.hint), Name: "/" + c.name, Info: c.describe(), State: "Command"})
		for _, v := range c.verbs {
			rows = append(rows, command.Row{ID: written("/"+c.name+" "+v.Name, v.Hint), Name: "/" + c.name + " " + v.Form(), Info: text.Clean(v.Help), State: "Command"})
		}
	}
	if p.opt.Vi {
		for _, v := range editor.Help() {
			rows = append(rows, command.Row{Name: v[0], Info: v[1], State: "Vi", Keys: []string{}})
		}
	}
	for _, extra := range [][2]string{{"@path", "name a file; tab completes"}, {"!command", "run a shell line yourself"}} {
		rows = append(rows, command.Row{ID: extra[0][:1], Name: extra[0], Info: extra[1], State: "Input"})
	}
	keys("Editing") // as everywhere
	return rows
}
