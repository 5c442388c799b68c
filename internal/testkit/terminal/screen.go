package terminal

import (
	"fmt"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// Cell is one column of a line. The second column of a wide character has Width 0 and no
// text.
type Cell struct {
	// Text is one grapheme cluster; a blank cell contains " ".
	Text  string
	Width int
	// FG and BG are nil for the terminal's own colours.
	FG, BG color.Color
	// Link is the target of a hyperlink.
	Link                                            string
	Bold, Faint, Italic, Underline, Reverse, Strike bool
}

// Screen is a copy of what the terminal showed at one moment.
type Screen struct {
	Cols, Rows int
	cells      [][]Cell
	// CursorX and CursorY count from 0.
	CursorX, CursorY int
	CursorVisible    bool
	AltScreen        bool
	Title            string
}

// Cell returns the cell at column x of row y, both from 0; outside the screen it is blank.
func (s Screen) Cell(x, y int) Cell {
	if y < 0 || y >= len(s.cells) || x < 0 || x >= len(s.cells[y]) {
		return Cell{Text: " ", Width: 1}
	}
	return s.cells[y][x]
}

// Line returns the text of row y without trailing spaces.
func (s Screen) Line(y int) string {
	if y < 0 || y >= len(s.cells) {
		return ""
	}
	var b strings.Builder
	for _, c := range s.cells[y] {
		b.WriteString(c.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// Lines returns the text of all rows without trailing spaces.
func (s Screen) Lines() []string {
	out := make([]string, s.Rows)
	for y := range out {
		out[y] = s.Line(y)
	}
	return out
}

// Text returns all rows, joined by newlines, without trailing spaces and empty rows.
func (s Screen) Text() string { return strings.TrimRight(strings.Join(s.Lines(), "\n"), "\n") }

// Contains reports whether a row shows text, or several rows show a text that was wrapped: where a line breaks
// depends on the length of paths in it.
func (s Screen) Contains(text string) bool {
	if _, _, ok := s.Find(text); ok {
		return true
	}
	dense := withoutBlanks(text)
	if len(dense) < minWrapped || !strings.Contains(text, " ") {
		return false // within a word, nothing wraps but a path
	}
	for y := range s.cells {
		first := withoutBlanks(s.Line(y))
		rows := first
		for next := y + 1; next < min(y+maxWrapped, s.Rows) && s.Line(next) != ""; next++ { // an empty row ends a paragraph
			rows += withoutBlanks(s.Line(next))
		}
		from := max(len(first)-len(dense)+1, 0) // what begins there goes beyond the first row
		if i := strings.Index(rows[min(from, len(rows)):], dense); i >= 0 && from+i < len(first) {
			return true
		}
	}
	return false
}

// The limits of a text that is looked for across rows: its length without blanks, and its rows.
const (
	minWrapped = 12
	maxWrapped = 4
)

func withoutBlanks(text string) string { return strings.Join(strings.Fields(text), "") }

// Find returns the column and row of the first occurrence of text.
func (s Screen) Find(text string) (x, y int, ok bool) {
	for y := range s.cells {
		line := s.Line(y)
		i := strings.Index(line, text)
		if i < 0 {
			continue
		}
		n := 0
		for x, c := range s.cells[y] {
			if n >= i {
				return x, y, true
			}
			n += len(c.Text)
		}
	}
	return 0, 0, false
}

// Styled returns the rows with a short note of each style change, for golden files that
// must show colours: `{bold fg=#rrggbb}text{}`.
func (s Screen) Styled() string {
	var b strings.Builder
	for y := range s.cells {
		var line strings.Builder
		last := ""
		for _, c := range s.cells[y] {
			if c.Width == 0 && c.Text == "" {
				continue
			}
			note := c.note()
			if note != last {
				line.WriteString("{" + note + "}")
				last = note
			}
			line.WriteString(c.Text)
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (c Cell) note() string {
	var parts []string
	for _, a := range []struct {
		on   bool
		name string
	}{{c.Bold, "bold"}, {c.Faint, "faint"}, {c.Italic, "italic"}, {c.Underline, "underline"}, {c.Reverse, "reverse"}, {c.Strike, "strike"}} {
		if a.on {
			parts = append(parts, a.name)
		}
	}
	if c.FG != nil {
		parts = append(parts, "fg="+Hex(c.FG))
	}
	if c.BG != nil {
		parts = append(parts, "bg="+Hex(c.BG))
	}
	return strings.Join(parts, " ")
}

// Hex returns a colour as #rrggbb.
func Hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

func cellOf(c *uv.Cell) Cell {
	if c == nil {
		return Cell{Text: " ", Width: 1}
	}
	out := Cell{
		Text: c.Content, Width: c.Width, FG: c.Style.Fg, BG: c.Style.Bg, Link: c.Link.URL,
		Bold:      c.Style.Attrs&uv.AttrBold != 0,
		Faint:     c.Style.Attrs&uv.AttrFaint != 0,
		Italic:    c.Style.Attrs&uv.AttrItalic != 0,
		Reverse:   c.Style.Attrs&uv.AttrReverse != 0,
		Strike:    c.Style.Attrs&uv.AttrStrikethrough != 0,
		Underline: c.Style.Underline != 0,
	}
	if out.Text == "" && out.Width > 0 {
		out.Text = " "
	}
	return out
}
