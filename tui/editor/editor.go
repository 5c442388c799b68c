package editor

import (
	"slices"
	"strings"

	"jcode/internal/cells"
)

// glyph is one grapheme cluster of the input, or a folded paste.
type glyph struct {
	s string
	w int
	// paste is the text represented by a chip; s is what the chip shows.
	paste string
}

// pos is a position between glyphs: line and column count from 0.
type pos struct{ row, col int }

func (p pos) before(q pos) bool { return p.row < q.row || p.row == q.row && p.col < q.col }

// Editor is a multi-line text that is edited by grapheme clusters. The zero value is not usable; call New.
type Editor struct {
	// ExpandKey is named in the chip of a folded paste: it shows the paste in full.
	ExpandKey string

	lines      [][]glyph
	cur        pos
	goal       int // the column in cells that up and down aim at; -1 = the cursor's
	cut        string
	cutting    bool // the last command cut, so the next cut is appended
	undos      []edit
	redos      []edit
	pastes     int
	top        int // the first visual row shown, relative to the window that is drawn
	maxUndo    int
	generation int // changes with every edit
	group      int // of the changes being made, 0 = each is undone separately
	groups     int // groups so far
}

func New() *Editor { return &Editor{lines: [][]glyph{{}}, goal: -1, maxUndo: 500} }

// tabWidth is the width of a tab in the input, in cells.
const tabWidth = 4

// glyphs splits a text without newlines into clusters.
func glyphs(s string) []glyph {
	if s == "" {
		return nil
	}
	out := make([]glyph, 0, len(s))
	for len(s) > 0 {
		c, w := cells.Next(s)
		switch {
		case c == "\t":
			out = append(out, glyph{s: c, w: tabWidth})
		case w > 0 || c[0] >= 0x20 && c[0] != 0x7f:
			out = append(out, glyph{s: c, w: w})
		}
		s = s[len(c):]
	}
	return out
}

func glyphLines(s string) [][]glyph {
	parts := strings.Split(s, "\n")
	out := make([][]glyph, len(parts))
	for i, p := range parts {
		out[i] = glyphs(p)
	}
	return out
}

// Text returns what was written, with folded pastes in full.
func (e *Editor) Text() string { return plainText(e.lines) }

func plainText(lines [][]glyph) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, g := range line {
			if g.paste != "" {
				b.WriteString(g.paste)
			} else {
				b.WriteString(g.s)
			}
		}
	}
	return b.String()
}

// Empty reports whether nothing was written.
func (e *Editor) Empty() bool { return len(e.lines) == 1 && len(e.lines[0]) == 0 }

// SetText replaces everything and puts the cursor at the end. It can be undone.
func (e *Editor) SetText(s string) {
	e.replace(pos{}, e.find().end(), glyphLines(s), false)
}

// Reset empties the editor and forgets how to undo.
func (e *Editor) Reset() {
	e.lines, e.cur, e.goal = [][]glyph{{}}, pos{}, -1
	e.undos, e.redos, e.cutting, e.group = nil, nil, false, 0
	e.generation++
}

func (e motions) end() pos {
	last := len(e.lines) - 1
	return pos{last, len(e.lines[last])}
}

// Insert writes text at the cursor. Characters that combine with the preceding one join it.
func (e *Editor) Insert(s string) {
	if s == "" {
		return
	}
	from := e.cur
	if line := e.lines[e.cur.row]; e.cur.col > 0 && s[0] >= 0x80 {
		if prev := line[e.cur.col-1]; prev.paste == "" && len(glyphs(prev.s+firstCluster(s))) == 1 {
			from.col--
			s = prev.s + s
		}
	}
	e.replace(from, e.cur, glyphLines(s), len(s) < 16 && !strings.Contains(s, "\n"))
}

func firstCluster(s string) string {
	c, _ := cells.Next(s)
	return c
}

// Newline breaks the line at the cursor.
func (e *Editor) Newline() { e.replace(e.cur, e.cur, [][]glyph{{}, {}}, false) }

// replace replaces the text between two positions and leaves the cursor after the new text.
func (e *Editor) replace(from, to pos, ins [][]glyph, typed bool) {
	ed := edit{at: from, inserted: ins, before: e.cur, typed: typed && from == to, group: e.group}
	ed.removed = e.splice(from, to, ins)
	e.cur = after(from, ins)
	ed.after = e.cur
	e.goal, e.redos, e.cutting = -1, nil, false
	e.generation++
	if n := len(e.undos); n > 0 && ed.typed && e.undos[n-1].joins(ed) {
		u := &e.undos[n-1]
		u.inserted[0] = append(u.inserted[0], ins[0]...)
		u.after = ed.after
		return
	}
	ed.inserted = cloneLines(ins)
	e.undos = append(e.undos, ed)
	if len(e.undos) > e.maxUndo {
		e.undos = slices.Delete(e.undos, 0, len(e.undos)-e.maxUndo)
	}
}

func cloneLines(lines [][]glyph) [][]glyph {
	out := make([][]glyph, len(lines))
	for i, l := range lines {
		out[i] = slices.Clone(l)
	}
	return out
}

// after returns the position after lines that begin at from.
func after(from pos, lines [][]glyph) pos {
	last := len(lines) - 1
	if last == 0 {
		return pos{from.row, from.col + len(lines[0])}
	}
	return pos{from.row + last, len(lines[last])}
}

// splice replaces the text between two positions and returns what it removed.
func (e *Editor) splice(from, to pos, ins [][]glyph) (removed [][]glyph) {
	first, last := e.lines[from.row], e.lines[to.row]
	if from.row == to.row {
		removed = [][]glyph{slices.Clone(first[from.col:to.col])}
		if len(ins) == 1 {
			e.lines[from.row] = slices.Replace(first, from.col, to.col, ins[0]...)
			return removed
		}
	} else {
		removed = append(removed, slices.Clone(first[from.col:]))
		removed = append(removed, e.lines[from.row+1:to.row]...)
		removed = append(removed, slices.Clone(last[:to.col]))
	}
	tail := slices.Clone(last[to.col:])
	fresh := cloneLines(ins)
	fresh[0] = append(slices.Clone(first[:from.col]), fresh[0]...)
	n := len(fresh) - 1
	fresh[n] = append(fresh[n], tail...)
	e.lines = slices.Replace(e.lines, from.row, to.row+1, fresh...)
	return removed
}

// remove deletes the text between two positions.
func (e *Editor) remove(from, to pos) {
	if to.before(from) {
		from, to = to, from
	}
	if from != to {
		e.replace(from, to, [][]glyph{{}}, false)
	}
}

// kill deletes the text between the cursor and a position, and keeps it for Yank. Consecutive cuts add up.
func (e *Editor) kill(to pos) {
	from := e.cur
	back := to.before(from)
	if back {
		from, to = to, from
	}
	if from == to {
		return
	}
	text := plainText(e.between(from, to))
	chained := e.cutting
	e.remove(from, to)
	switch {
	case !chained:
		e.cut = text
	case back:
		e.cut = text + e.cut
	default:
		e.cut += text
	}
	e.cutting = true
}

func (e *Editor) between(from, to pos) [][]glyph {
	if from.row == to.row {
		return [][]glyph{e.lines[from.row][from.col:to.col]}
	}
	out := [][]glyph{e.lines[from.row][from.col:]}
	out = append(out, e.lines[from.row+1:to.row]...)
	return append(out, e.lines[to.row][:to.col])
}

// Yank inserts what was cut last.
func (e *Editor) Yank() {
	if e.cut != "" {
		e.replace(e.cur, e.cur, glyphLines(e.cut), false)
	}
}

// Len counts the grapheme clusters and chips of the first line.
func (e *Editor) Len() int { return len(e.lines[0]) }

// Columns counts the grapheme clusters of a text.
func Columns(s string) int { return len(glyphs(s)) }

// Keeps reports whether the editor would keep every byte of a text.
func Keeps(s string) bool { return plainText(glyphLines(s)) == s }

// Generation changes with every edit.
func (e *Editor) Generation() int { return e.generation }

// Content is a text with its folded pastes.
type Content [][]glyph

// Content returns what was written, for SetContent.
func (e *Editor) Content() Content { return cloneLines(e.lines) }

// SetContent replaces everything with what Content returned. It can be undone.
func (e *Editor) SetContent(c Content) { e.replace(pos{}, e.find().end(), c, false) }

// Clear deletes everything. It can be undone.
func (e *Editor) Clear() { e.remove(pos{}, e.find().end()) }

// Lines counts the lines.
func (e *Editor) Lines() int { return len(e.lines) }

// Begins reports whether the text begins with the typed character c and contains more.
func (e *Editor) Begins(c string) bool {
	line := e.lines[0]
	return len(line) > 0 && line[0].paste == "" && line[0].s == c
}

// Row returns the line of the cursor, from 0.
func (e *Editor) Row() int { return e.cur.row }

// Before returns the text before the cursor in its line.
func (e *Editor) Before() string {
	return plainText([][]glyph{e.lines[e.cur.row][:e.cur.col]})
}

// Complete replaces the text between a column of the cursor's line and the cursor.
func (e *Editor) Complete(column int, s string) {
	e.replace(pos{e.cur.row, column}, e.cur, glyphLines(s), false)
}

// Line draws a one-line text in width cells around the cursor, which is at cell x.
func (e *Editor) Line(width int) (text string, x int) {
	gs := e.lines[0]
	from := 0
	for from < e.cur.col && glyphsWidth(gs[from:e.cur.col]) > width-1 {
		from++
	}
	var b strings.Builder
	w := 0
	for _, g := range gs[from:] {
		if w+g.w > width {
			break
		}
		b.WriteString(g.s)
		w += g.w
	}
	return b.String(), glyphsWidth(gs[from:e.cur.col])
}

// Mention finds the word at the cursor that begins with @, quoted or not: the column of the @, and what was
// typed after it. ok is false if there is none; a pasted word is not a mention.
func (e *Editor) Mention() (column int, typed string, ok bool) {
	line := e.lines[e.cur.row]
	quoted := -1
	for i := e.cur.col - 1; i >= 0; i-- {
		g := line[i]
		if g.s == `"` && i > 0 && line[i-1].s == "@" {
			quoted = i
		}
		if g.s == "@" {
			if i == 0 || line[i-1].s == " " {
				return i, plainText([][]glyph{line[i+1 : e.cur.col]}), true
			}
			return 0, "", false
		}
		if g.s == " " && quoted < 0 && !insideQuote(line, i) {
			return 0, "", false
		}
	}
	return 0, "", false
}

// insideQuote reports whether column i is after an open @".
func insideQuote(line []glyph, i int) bool {
	open := false
	for j := 0; j < i; j++ {
		if line[j].s == `"` {
			open = !open && j > 0 && line[j-1].s == "@"
		}
	}
	return open
}
