package terminal

import (
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Draw returns the screen that a frame produces: lines with escape sequences, as in a Bubble Tea program's
// View, in a terminal with the colours of profile.
func Draw(frame string, cols, rows int, profile colorprofile.Profile) Screen {
	buf := uv.NewScreenBuffer(cols, rows)
	buf.Method = ansi.GraphemeWidth
	uv.NewStyledString(frame).Draw(buf, buf.Bounds())
	s := Screen{Cols: cols, Rows: rows, cells: make([][]Cell, rows)}
	for y := range rows {
		s.cells[y] = make([]Cell, cols)
		for x := range cols {
			c := buf.CellAt(x, y)
			if c != nil {
				copied := *c
				copied.Style = uv.ConvertStyle(c.Style, profile)
				c = &copied
			}
			s.cells[y][x] = cellOf(c)
		}
	}
	return s
}
