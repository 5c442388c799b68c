package editor

import (
	"unicode"
	"unicode/utf8"

	"jcode/internal/cells"
)

// Do performs an editing command and reports whether it is one.
func (e *Editor) Do(c Command) bool {
	if c != KillEnd && c != KillStart && c != DeleteWord && c != DeleteNext {
		e.cutting = false
	}
	switch c {
	case Left:
		e.move(e.find().left(e.cur))
	case Right:
		e.move(e.find().right(e.cur))
	case WordLeft:
		e.move(e.find().wordLeft(e.cur))
	case WordRight:
		e.move(e.find().wordRight(e.cur))
	case Home:
		e.move(pos{e.cur.row, 0})
	case End:
		e.move(pos{e.cur.row, len(e.lines[e.cur.row])})
	case DeleteBack:
		e.remove(e.find().left(e.cur), e.cur)
	case Delete:
		e.remove(e.cur, e.find().right(e.cur))
	case DeleteWord:
		e.kill(e.find().wordLeft(e.cur))
	case DeleteNext:
		e.kill(e.find().wordRight(e.cur))
	case KillEnd:
		e.kill(e.find().lineEnd())
	case KillStart:
		e.kill(e.find().lineStart())
	case Yank:
		e.Yank()
	case Undo:
		e.Undo()
	case Redo:
		e.Redo()
	default:
		return false
	}
	return true
}

func (e *Editor) move(p pos) {
	e.cur, e.goal = p, -1
}

func (e motions) left(p pos) pos {
	switch {
	case p.col > 0:
		p.col--
	case p.row > 0:
		p = pos{p.row - 1, len(e.lines[p.row-1])}
	}
	return p
}

func (e motions) right(p pos) pos {
	switch {
	case p.col < len(e.lines[p.row]):
		p.col++
	case p.row < len(e.lines)-1:
		p = pos{p.row + 1, 0}
	}
	return p
}

// lineEnd returns where a cut to the end stops: the end of the line, or the start of the next one.
func (e motions) lineEnd() pos {
	if e.cur.col == len(e.lines[e.cur.row]) {
		return e.right(e.cur)
	}
	return pos{e.cur.row, len(e.lines[e.cur.row])}
}

func (e motions) lineStart() pos {
	if e.cur.col == 0 {
		return e.left(e.cur)
	}
	return pos{e.cur.row, 0}
}

// wordLeft returns the start of the word before a position.
func (e motions) wordLeft(p pos) pos {
	for q := e.left(p); q != p && !e.wordAt(q); q = e.left(p) {
		p = q
	}
	for q := e.left(p); q != p && q.row == p.row && e.wordAt(q); q = e.left(p) {
		p = q
	}
	return p
}

// wordRight returns the end of the word after a position.
func (e motions) wordRight(p pos) pos {
	for !e.wordAt(p) {
		q := e.right(p)
		if q == p {
			return p
		}
		p = q
	}
	for e.wordAt(p) {
		p = e.right(p)
	}
	return p
}

// wordAt reports whether the glyph after a position belongs to a word.
func (e motions) wordAt(p pos) bool {
	line := e.lines[p.row]
	if p.col >= len(line) {
		return false
	}
	if line[p.col].paste != "" {
		return true
	}
	r, _ := utf8.DecodeRuneInString(line[p.col].s)
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// breaks returns the columns at which the visual rows of a line begin, for rows of width
// cells: between words where possible.
func breaks(line []glyph, width int) []int {
	starts := []int{0}
	w, start, word := 0, 0, 0
	for i, g := range line {
		if w+g.w > width && i > start {
			at := i
			if word > start {
				at = word
			}
			w = 0
			for _, h := range line[at:i] {
				w += h.w
			}
			starts = append(starts, at)
			start = at
		}
		w += g.w
		if g.s == " " {
			word = i + 1
		}
	}
	return starts
}

// segment returns the visual row of a column and the row's start, given a line's breaks.
func segment(starts []int, col int) (row, start int) {
	row = len(starts) - 1
	for row > 0 && starts[row] > col {
		row--
	}
	return row, starts[row]
}

func glyphsWidth(gs []glyph) int {
	n := 0
	for _, g := range gs {
		n += g.w
	}
	return n
}

// Vertical moves the cursor by one visual row, down with delta 1 and up with -1. It reports whether there was
// one.
func (e *Editor) Vertical(delta, width int) bool {
	line := e.lines[e.cur.row]
	starts := breaks(line, width)
	row, start := segment(starts, e.cur.col)
	if e.goal < 0 {
		e.goal = glyphsWidth(line[start:e.cur.col])
	}
	at, target := e.cur.row, row+delta
	if target < 0 || target >= len(starts) { // in the line above or below
		at += delta
		if at < 0 || at >= len(e.lines) {
			return false
		}
		line = e.lines[at]
		starts = breaks(line, width)
		target = 0
		if delta < 0 {
			target = len(starts) - 1
		}
	}
	e.cur = pos{at, columnAt(line, starts, target, e.goal)}
	return true
}

// columnAt returns the column of a visual row that is nearest to a goal in cells.
func columnAt(line []glyph, starts []int, row, goal int) int {
	from, to := starts[row], len(line)
	if row+1 < len(starts) {
		to = starts[row+1] - 1 // the cursor after the last glyph would appear in the next row
	}
	col, w := from, 0
	for col < to && w+line[col].w <= goal {
		w += line[col].w
		col++
	}
	return col
}

// Row is one row of the text as it is drawn.
type Row struct {
	glyphs   []glyph
	at       pos // of the first glyph
	from, to int // glyphs that are marked
}

// First reports whether it is the first row of the text.
func (r Row) First() bool { return r.at == pos{} }

// Part is a run of a row: text, or the chip of a folded paste, marked or not.
type Part struct {
	Text         string
	Chip, Marked bool
}

// Parts returns the row as it is drawn, with tabs as spaces.
func (r Row) Parts() []Part {
	var out []Part
	for i, g := range r.glyphs {
		part := Part{Text: g.s, Chip: g.paste != "", Marked: i >= r.from && i < r.to}
		if g.s == "\t" {
			part.Text = cells.Blank(tabWidth)
		}
		if n := len(out); n > 0 && !part.Chip && !out[n-1].Chip && out[n-1].Marked == part.Marked {
			out[n-1].Text += part.Text
			continue
		}
		out = append(out, part)
	}
	return out
}

// Window returns up to height visual rows around the cursor, and the cursor's row and cell among them. It
// costs as much as it shows.
func (e *Editor) Window(width, height int) (rows []Row, y, x int, above, below bool) {
	width, height = max(width, 1), max(height, 1)
	rows = e.visualRows(e.cur.row, width)
	y = len(rows) - 1
	for y > 0 && rows[y].at.col > e.cur.col {
		y--
	}
	x = glyphsWidth(e.lines[e.cur.row][rows[y].at.col:e.cur.col])
	up, down := e.cur.row-1, e.cur.row+1
	for ; up >= 0 && y < height; up-- {
		more := e.visualRows(up, width)
		rows = append(more, rows...)
		y += len(more)
	}
	for ; down < len(e.lines) && len(rows)-y < height; down++ {
		rows = append(rows, e.visualRows(down, width)...)
	}
	if len(rows) <= height {
		e.top = 0
		return rows, y, x, up >= 0, down < len(e.lines)
	}
	// Keep the cursor near its position in the window.
	from := min(max(y-height+1, 0), len(rows)-height)
	if want := y - min(e.top, height-1); want > from && want <= y {
		from = min(want, len(rows)-height)
	}
	e.top = y - from
	return rows[from : from+height], y - from, x, up >= 0 || from > 0, down < len(e.lines) || from+height < len(rows)
}

// visualRows returns the rows of one line.
func (e *Editor) visualRows(row, width int) []Row {
	line := e.lines[row]
	starts := breaks(line, width)
	rows := make([]Row, len(starts))
	for i, from := range starts {
		to := len(line)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		rows[i] = Row{glyphs: line[from:to], at: pos{row, from}}
	}
	return rows
}
