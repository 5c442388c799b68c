package pdftext

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// run is a piece of text with the positions of its beginning and end.
type run struct {
	text     string
	from, to matrix
}

// layout arranges runs in lines. It keeps the order of the file, which is the reading order in
// nearly all files, including columns, and breaks a line where the text does.
type layout struct {
	b    strings.Builder
	last run
	any  bool
	tail rune // the last character
}

// Shares of the size of the text.
const (
	noGap     = 0.1  // a blank that takes less shows no gap
	wordGap   = 0.17 // more is a space
	columnGap = 2.0  // more is two
	lineShift = 0.6  // of the base line: more is another line
	blankLine = 1.9  // between lines: more is a new paragraph
)

func (l *layout) add(r run) {
	text := strings.Map(plain, r.text)
	if text == "" {
		return
	}
	if l.any {
		if l.twice(r) {
			return
		}
		l.separate(r, text)
	}
	l.b.WriteString(text)
	l.tail, _ = utf8.DecodeLastRuneInString(text)
	l.last, l.any = r, true
}

// plain drops control characters, and replaces ligatures by their letters so that words can be
// found.
func plain(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\r' || r == 0xa0:
		return ' '
	case unicode.IsControl(r) || r == 0xad || r == 0xfeff:
		return -1
	}
	return r
}

// twice reports whether a run repeats the last one at its place, as some programs do for bold
// text.
func (l *layout) twice(r run) bool {
	size := height(r.from)
	return r.text == l.last.text && strings.TrimSpace(r.text) != "" && math.Abs(r.from[4]-l.last.from[4]) < size*0.15 && math.Abs(r.from[5]-l.last.from[5]) < size*0.15
}

// height is the height of the text.
func height(m matrix) float64 { return math.Hypot(m[2], m[3]) }

// separate writes what separates the last run from this one.
func (l *layout) separate(r run, text string) {
	size := max(height(r.from), height(l.last.from), 1e-6)
	dx, dy := l.last.to[0], l.last.to[1]
	length := math.Hypot(dx, dy)
	if length == 0 {
		dx, dy, length = 1, 0, 1
	}
	dx, dy = dx/length, dy/length
	x, y := r.from[4]-l.last.to[4], r.from[5]-l.last.to[5]
	along, across := x*dx+y*dy, math.Abs(-x*dy+y*dx)
	turned := r.from[0]*dx+r.from[1]*dy < 0.5*math.Hypot(r.from[0], r.from[1])
	first, _ := utf8.DecodeRuneInString(text)
	switch {
	case across > lineShift*size || along < -1.5*size || turned:
		l.b.WriteByte('\n')
		if across > blankLine*size {
			l.b.WriteByte('\n')
		}
	case l.tail == ' ' || first == ' ':
	case along > columnGap*size:
		l.b.WriteString("  ")
	case along > wordGap*size:
		l.b.WriteByte(' ')
	}
}

// String returns the text, with blank ends of lines dropped.
func (l *layout) String() string {
	lines := strings.Split(l.b.String(), "\n")
	for i, s := range lines {
		lines[i] = strings.TrimRight(s, " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
