package editor

import (
	"unicode"
	"unicode/utf8"
)

// viReach is how an operator applies to a motion.
type viReach int

const (
	exclusive viReach = iota // up to the position, without the character there
	inclusive                // including it
	linewise                 // whole lines
)

// viSpan is what an operator works on: from..to without the character at to, or all lines from from's to
// to's.
type viSpan struct {
	from, to pos
	lines    bool
}

// motions finds the positions that motions and text objects lead to, in a text with a cursor. It changes nothing.
type motions struct {
	lines [][]glyph
	cur   pos
}

func (e *Editor) find() motions { return motions{e.lines, e.cur} }

// The classes of characters that words are made of.
const (
	classBlank = iota
	classPunct
	classWord
	classChip // a folded paste
)

// class returns the class of the character at a position; the end of a line is white space. With big,
// everything between white space is one word.
func (e motions) class(p pos, big bool) int {
	line := e.lines[p.row]
	if p.col >= len(line) {
		return classBlank
	}
	g := line[p.col]
	if g.paste != "" {
		return classChip
	}
	r, _ := utf8.DecodeRuneInString(g.s)
	switch {
	case unicode.IsSpace(r):
		return classBlank
	case big || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return classWord
	}
	return classPunct
}

func (e motions) emptyAt(row int) bool { return len(e.lines[row]) == 0 }

// nextWord returns the start of the next word; an empty line is one.
func (e motions) nextWord(p pos, big bool) pos {
	if c := e.class(p, big); c != classBlank {
		for e.class(p, big) == c {
			p.col++
		}
	}
	for e.class(p, big) == classBlank {
		q := e.right(p)
		if q == p {
			break
		}
		if p = q; p.col == 0 && e.emptyAt(p.row) {
			break
		}
	}
	return p
}

// wordEnd returns the last character of this word, or of the next one if it is already there.
func (e motions) wordEnd(p pos, big bool) pos {
	for first := true; first || e.class(p, big) == classBlank; first = false {
		q := e.right(p)
		if q == p {
			return p
		}
		p = q
	}
	for c := e.class(p, big); e.class(pos{p.row, p.col + 1}, big) == c; {
		p.col++
	}
	return p
}

// prevWord returns the start of this word, or of the previous one if it is already there.
func (e motions) prevWord(p pos, big bool) pos {
	return e.runStart(e.prevText(p, big), big)
}

// prevEnd returns the last character of the previous word.
func (e motions) prevEnd(p pos, big bool) pos {
	if e.class(p, big) != classBlank {
		p = e.runStart(p, big)
	}
	return e.prevText(p, big)
}

// prevText returns the last position before p that is not white space; an empty line counts as one, and so
// does the start of the text.
func (e motions) prevText(p pos, big bool) pos {
	for first := true; first || e.class(p, big) == classBlank; first = false {
		q := e.left(p)
		if q == p {
			return p
		}
		if p = q; p.col == 0 && e.emptyAt(p.row) {
			return p
		}
	}
	return p
}

// runStart returns the first character of the run of one class that ends at p.
func (e motions) runStart(p pos, big bool) pos {
	for c := e.class(p, big); p.col > 0 && e.class(pos{p.row, p.col - 1}, big) == c; {
		p.col--
	}
	return p
}

// firstText returns the first character of a row that is not white space.
func (e motions) firstText(row int) pos {
	p := pos{row, 0}
	for p.col < len(e.lines[row])-1 && e.class(p, false) == classBlank {
		p.col++
	}
	return p
}

// findInLine finds the nth target in the cursor's line: kind is f, F, t or T. again skips the target that a t
// or T is next to.
func (e motions) findInLine(c viCmd, again bool) (to pos, ok bool) {
	line := e.lines[e.cur.row]
	step, short := 1, 0
	if c.key == "F" || c.key == "T" {
		step = -1
	}
	if c.key == "t" || c.key == "T" {
		short = -step
	}
	col := e.cur.col + step
	if again && short != 0 && col >= 0 && col < len(line) && line[col].s == c.arg {
		col += step
	}
	n := c.times()
	for ; col >= 0 && col < len(line); col += step {
		if line[col].s != c.arg || line[col].paste != "" {
			continue
		}
		if n--; n == 0 {
			return pos{e.cur.row, col + short}, true
		}
	}
	return e.cur, false
}

// paragraph returns the empty line below (or above) the paragraph, or the text's end.
func (e motions) paragraph(p pos, down bool) pos {
	row, step := p.row, -1
	if down {
		step = 1
	}
	inside := func(r int) bool { return r >= 0 && r < len(e.lines) }
	for inside(row) && e.emptyAt(row) {
		row += step
	}
	for inside(row) && !e.emptyAt(row) {
		row += step
	}
	switch {
	case row < 0:
		return pos{}
	case row >= len(e.lines):
		return e.end()
	}
	return pos{row, 0}
}

// brackets pairs opening and closing ones. It is never written.
var brackets = map[string]string{"(": ")", "[": "]", "{": "}", "<": ">"}

// matching returns the partner of the first bracket at or after the cursor in its line.
func (e motions) matching() (to pos, ok bool) {
	line := e.lines[e.cur.row]
	for col := e.cur.col; col < len(line); col++ {
		s := line[col].s
		for opening, closing := range brackets {
			switch {
			case opening == "<":
			case s == opening:
				return e.closer(pos{e.cur.row, col}, opening, closing)
			case s == closing:
				return e.opener(pos{e.cur.row, col}, opening, closing, 1)
			}
		}
	}
	return e.cur, false
}

// closer returns the bracket that closes the one at p.
func (e motions) closer(p pos, opening, closing string) (at pos, ok bool) {
	depth := 0
	for {
		switch e.glyphAt(p) {
		case opening:
			depth++
		case closing:
			if depth--; depth == 0 {
				return p, true
			}
		}
		q := e.right(p)
		if q == p {
			return p, false
		}
		p = q
	}
}

// opener returns the bracket before p that is the levelth one still open there. A closing bracket at p itself
// is taken as inside.
func (e motions) opener(p pos, opening, closing string, level int) (at pos, ok bool) {
	depth := 0
	for first := true; ; first = false {
		switch e.glyphAt(p) {
		case opening:
			if depth--; depth < 0 {
				if level--; level == 0 {
					return p, true
				}
				depth = 0
			}
		case closing:
			if !first {
				depth++
			}
		}
		q := e.left(p)
		if q == p {
			return p, false
		}
		p = q
	}
}

// glyphAt returns the character at a position, "" at the end of a line.
func (e motions) glyphAt(p pos) string {
	if line := e.lines[p.row]; p.col < len(line) && line[p.col].paste == "" {
		return line[p.col].s
	}
	return ""
}

// motion returns where a command moves to and how an operator applies to it.
func (v *Vi) motion(e *Editor, c viCmd) (to pos, reach viReach, ok bool) {
	n := c.times()
	to = e.cur
	repeat := func(f func(p pos, big bool) pos, big bool) pos {
		p := e.cur
		for range n {
			p = f(p, big)
		}
		return p
	}
	last := len(e.lines) - 1
	switch c.key {
	case "h":
		return pos{to.row, max(to.col-n, 0)}, exclusive, true
	case "l", " ":
		return pos{to.row, min(to.col+n, len(e.lines[to.row]))}, exclusive, true
	case "j":
		return pos{min(to.row+n, last), to.col}, linewise, to.row < last
	case "k":
		return pos{max(to.row-n, 0), to.col}, linewise, to.row > 0
	case "w", "W":
		return repeat(e.find().nextWord, c.key == "W"), exclusive, true
	case "b", "B":
		return repeat(e.find().prevWord, c.key == "B"), exclusive, true
	case "e", "E":
		return repeat(e.find().wordEnd, c.key == "E"), inclusive, true
	case "ge", "gE":
		return repeat(e.find().prevEnd, c.key == "gE"), inclusive, true
	case "0":
		return pos{to.row, 0}, exclusive, true
	case "^":
		return e.find().firstText(to.row), exclusive, true
	case "$":
		row := min(to.row+n-1, last)
		return pos{row, max(len(e.lines[row])-1, 0)}, inclusive, true
	case "gg", "G":
		row := last
		if c.key == "gg" || c.count > 0 {
			row = min(n-1, last)
		}
		return e.find().firstText(row), linewise, true
	case "{", "}":
		return repeat(e.find().paragraph, c.key == "}"), exclusive, true
	case "%":
		to, ok = e.find().matching()
		return to, inclusive, ok
	case "f", "t", "F", "T":
		v.find = c
		return v.findMotion(e, c, false)
	case ";", ",":
		again := viCmd{count: c.count, key: v.find.key, arg: v.find.arg}
		if c.key == "," {
			again.key = swapLetter(again.key) // f and F, t and T search in opposite directions
		}
		return v.findMotion(e, again, true)
	}
	return to, exclusive, false
}

func (v *Vi) findMotion(e *Editor, c viCmd, again bool) (to pos, reach viReach, ok bool) {
	if c.arg == "" {
		return e.cur, exclusive, false
	}
	if c.key == "f" || c.key == "t" {
		reach = inclusive
	}
	to, ok = e.find().findInLine(c, again)
	return to, reach, ok
}
