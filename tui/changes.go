package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/tools/command"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// changes lists the files that the session changed, with their diffs.
func (p *panels) changes() tea.Cmd {
	if p.opt.Changes == nil {
		p.flash("changes are not tracked here")
		return nil
	}
	return fetch(p, p.opt.Changes, func(files []command.FileChange, err error) tea.Cmd {
		if err != nil {
			p.say(event.LevelError, "diff: "+err.Error())
			return nil
		}
		p.open(newDiffView(files))
		return nil
	})
}

// diffView shows changed files one at a time.
type diffView struct {
	*picker
	files  []command.FileChange
	scroll int
}

func newDiffView(files []command.FileChange) *diffView {
	d := &diffView{files: files}
	var rows []command.Row
	for i, f := range files {
		rows = append(rows, command.Row{ID: strconv.Itoa(i), Name: f.Path, State: "+" + strconv.Itoa(f.Added) + " -" + strconv.Itoa(f.Removed)})
	}
	d.picker = newPicker("Changed files", rows, nil)
	d.empty = "this session has changed nothing"
	d.move = func(command.Row) { d.scroll = 0 }
	return d
}

func (d *diffView) key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	switch act {
	case look.PageDown:
		d.scroll += 10
	case look.PageUp:
		d.scroll = max(d.scroll-10, 0)
	case look.LineDown:
		d.scroll++
	case look.LineUp:
		d.scroll = max(d.scroll-1, 0)
	case look.Interrupt, look.Cancel:
		h.close(d)
	default:
		return d.picker.key(h, k, act)
	}
	return nil
}

func (d *diffView) draw(l *look.Look, width, height int) (lines []string, cursor *pos) {
	listHeight := min(len(d.files)+4, max(height/3, 5))
	lines, cursor = d.picker.draw(l, width, listHeight)
	if _, ok := d.current(); !ok {
		return lines, cursor
	}
	file := d.files[d.shown[d.at]]
	body := transcript.DrawDiff(file.Diff, l, width-1, unlimited)
	room := max(height-len(lines)-1, 0)
	d.scroll = min(d.scroll, max(len(body)-room, 0))
	foot := lines[len(lines)-1]
	lines = lines[:len(lines)-1]
	lines = append(lines, cells.Paint(l.Theme.Border, strings.Repeat("╌", width)))
	lines = append(lines, body[d.scroll:min(d.scroll+room, len(body))]...)
	return append(lines, foot), cursor
}
