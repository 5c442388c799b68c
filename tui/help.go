package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"jcode/tui/editor"
)

// helpView lists keys and commands, from the tables that the program uses.
type helpView struct {
	picker *picker
}

func newHelp(p *program) *helpView {
	var rows []Row
	for _, r := range p.keys.rows {
		if len(r.keys) == 0 {
			continue
		}
		rows = append(rows, Row{Name: strings.Join(r.keys, "  "), Info: r.help, State: r.group, Search: string(r.act)})
	}
	for _, c := range p.slashes.list() {
		rows = append(rows, Row{Name: "/" + c.name, Info: c.describe(), State: "Command"})
	}
	if p.opt.Vi {
		for _, v := range editor.Help() {
			rows = append(rows, Row{Name: v[0], Info: v[1], State: "Vi"})
		}
	}
	for _, extra := range [][2]string{{"@path", "name a file; tab completes"}, {"!command", "run a shell line yourself"}} {
		rows = append(rows, Row{Name: extra[0], Info: extra[1], State: "Input"})
	}
	h := &helpView{picker: newPicker("Keys and commands", rows, nil)}
	h.picker.infoFirst = true
	return h
}

func (v *helpView) armed(time.Time) bool { return true }
func (v *helpView) paste(s string) bool  { return v.picker.paste(s) }

func (v *helpView) key(h host, k tea.KeyPressMsg, act action) tea.Cmd {
	if act == actInterrupt || act == actCancel || act == actSubmit || act == actHelp {
		h.close(v)
		return nil
	}
	return v.picker.key(h, k, act)
}

func (v *helpView) draw(l *look, width, height int) ([]string, *pos) {
	return v.picker.draw(l, width, height)
}
