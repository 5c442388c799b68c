package terminal

import (
	"fmt"
	"html"
	"strings"
)

// The metrics of an SVG picture, in pixels.
const (
	svgCellWidth  = 8.4
	svgLineHeight = 18
	svgMargin     = 14
	svgFontSize   = 14
)

// SVG draws the screen as a picture with selectable text. fg and bg are the terminal's own colours as
// #rrggbb.
func (s Screen) SVG(fg, bg string) string {
	var b strings.Builder
	s.svgHead(&b, bg)
	for y := range s.cells {
		s.svgLine(&b, y, fg, bg)
	}
	b.WriteString(s.svgCursor(fg))
	b.WriteString("</svg>\n")
	return b.String()
}

// svgHead begins a picture of the screen's size.
func (s Screen) svgHead(b *strings.Builder, bg string) {
	w := float64(s.Cols)*svgCellWidth + 2*svgMargin
	h := float64(s.Rows)*svgLineHeight + 2*svgMargin
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="%d">`+"\n", w, h, w, h, svgFontSize)
	fmt.Fprintf(b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", bg)
}

// svgCursor draws the cursor, if it is seen.
func (s Screen) svgCursor(fg string) string {
	if !s.CursorVisible {
		return ""
	}
	return fmt.Sprintf(`<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" fill-opacity="0.6"/>`+"\n",
		svgMargin+float64(s.CursorX)*svgCellWidth, svgMargin+s.CursorY*svgLineHeight, svgCellWidth, svgLineHeight, fg)
}

// svgLine draws the runs of equal style of one row.
func (s Screen) svgLine(b *strings.Builder, y int, fg, bg string) {
	row := s.cells[y]
	for x := 0; x < len(row); {
		end := runEnd(row, x)
		text, cols := "", end-x
		for _, c := range row[x:end] {
			text += c.Text
		}
		if row[x].BG == nil && !row[x].Reverse {
			trimmed := strings.TrimRight(text, " ")
			text, cols = trimmed, cols-(len(text)-len(trimmed))
		}
		svgRun(b, row[x], x, y, cols, text, fg, bg)
		x = end
	}
}

// runEnd returns the column after the run of equal style that begins at x. A wide character
// is a run of its own, so that what follows it is in the right column.
func runEnd(row []Cell, x int) int {
	end := x + 1
	if row[x].Width > 1 {
		return min(x+row[x].Width, len(row))
	}
	style := row[x].note()
	for end < len(row) && row[end].Width <= 1 && row[end].note() == style {
		end++
	}
	return end
}

func svgRun(b *strings.Builder, c Cell, x, y, cols int, text, fg, bg string) {
	front, back := fg, ""
	if c.FG != nil {
		front = Hex(c.FG)
	}
	if c.BG != nil {
		back = Hex(c.BG)
	}
	if c.Reverse {
		if back == "" {
			back = bg
		}
		front, back = back, front
	}
	px := svgMargin + float64(x)*svgCellWidth
	py := svgMargin + y*svgLineHeight
	if back != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", px, py, float64(cols)*svgCellWidth, svgLineHeight, back)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	attrs := ""
	if c.Bold {
		attrs += ` font-weight="bold"`
	}
	if c.Italic {
		attrs += ` font-style="italic"`
	}
	if c.Faint {
		attrs += ` fill-opacity="0.6"`
	}
	if c.Underline {
		attrs += ` text-decoration="underline"`
	}
	if c.Strike {
		attrs += ` text-decoration="line-through"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" fill="%s" xml:space="preserve" textLength="%.1f" lengthAdjust="spacingAndGlyphs"%s>%s</text>`+"\n",
		px, py+svgFontSize, front, float64(cols)*svgCellWidth, attrs, html.EscapeString(text))
}
