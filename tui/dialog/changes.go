package dialog

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/cells"
	"jcode/tools/command"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// Changes shows changed files one at a time.
type Changes struct {
	*Picker
	files  []command.FileChange
	scroll int
	room   int // lines of a change that were drawn: a page
}

func NewChanges(files []command.FileChange) *Changes {
	d := &Changes{files: files}
	var rows []command.Row
	for i, f := range files {
		rows = append(rows, command.Row{ID: strconv.Itoa(i), Name: f.Path, State: "+" + strconv.Itoa(f.Added) + " -" + strconv.Itoa(f.Removed)})
	}
	d.Picker = NewPicker("Changed files", rows, nil)
	d.painted = func(th *look.Theme, r *command.Row) []cells.Span {
		i, _ := strconv.Atoi(r.ID) // as above
		return look.Changed(th, files[i].Added, files[i].Removed)
	}
	d.Empty = "this session has changed nothing"
	d.Move = func(command.Row) { d.scroll = 0 }
	return d
}

func (d *Changes) Key(h host, k tea.KeyPressMsg, act look.Action) tea.Cmd {
	switch act {
	case look.PageDown:
		d.scroll += max(d.room-1, 1)
	case look.PageUp:
		d.scroll = max(d.scroll-max(d.room-1, 1), 0)
	case look.LineDown:
		d.scroll++
	case look.LineUp:
		d.scroll = max(d.scroll-1, 0)
	case look.Interrupt, look.Cancel:
		h.Close(d)
	default:
		return d.Picker.Key(h, k, act)
	}
	return nil
}

func (d *Changes) Draw(l *look.Look, width, height int) (lines []string, cursor *Pos) {
	listHeight := min(len(d.files)+4, max(height/3, 5))
	lines, cursor = d.Picker.Draw(l, width, listHeight)
	if _, ok := d.Current(); !ok {
		return lines, cursor
	}
	file := d.files[d.shown[d.at]]
	body := transcript.DrawDiff(file.Diff, l, width-1, unlimited)
	room := max(height-len(lines)-1, 0)
	d.room = room
	d.scroll = min(d.scroll, max(len(body)-room, 0))
	foot := lines[len(lines)-1]
	lines = lines[:len(lines)-1]
	lines = append(lines, cells.Paint(l.Theme.Border, strings.Repeat("╌", width)))
	lines = append(lines, body[d.scroll:min(d.scroll+room, len(body))]...)
	return append(lines, foot), cursor
}
