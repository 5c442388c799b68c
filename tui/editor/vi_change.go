package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// normal runs a command of the normal mode.
func (v *Vi) normal(e *Editor, c viCmd) Ask {
	if c.op != "" {
		v.operator(e, c)
		return Done
	}
	switch c.key {
	case "j":
		return LineDown
	case "k":
		return LineUp
	case "/":
		return Search
	case "n", "N":
		return Other // a search in the transcript continues
	case "u":
		for range c.times() {
			e.Undo()
		}
	case "ctrl+r":
		for range c.times() {
			e.Redo()
		}
	case "v", "V":
		v.mode, v.anchor, v.goal = viVisual, e.cur, e.cur.col
		if c.key == "V" {
			v.mode = viLines
		}
	case ".":
		v.again(e, c)
	case "Y":
		v.operator(e, viCmd{count: c.count, op: "y", key: "y"})
	default:
		if to, _, ok := v.motion(e, c); ok {
			e.move(to)
			return Done
		}
		v.change(e, c)
	}
	return Done
}

// viShort are the commands that abbreviate an operator with a motion. It is never written.
var viShort = map[string]viCmd{
	"x": {op: "d", key: "l"}, "X": {op: "d", key: "h"}, "D": {op: "d", key: "$"}, "C": {op: "c", key: "$"},
	"s": {op: "c", key: "l"}, "S": {op: "c", key: "c"},
}

// change runs a command that changes the text, and remembers it.
func (v *Vi) change(e *Editor, c viCmd) {
	if short, ok := viShort[c.key]; ok {
		short.count = c.count
		v.operator(e, short)
		return
	}
	e.openGroup()
	changed := true
	switch c.key {
	case "i", "a", "I", "A", "o", "O":
		v.writeAt(e, c)
	case "r":
		changed = e.replaceChars(c)
	case "~":
		e.swapCase(e.cur, pos{e.cur.row, min(e.cur.col+c.times(), len(e.lines[e.cur.row]))})
	case "J":
		for range max(c.times()-1, 1) {
			changed = e.join() && changed
		}
	case "p", "P":
		v.put(e, c)
	default:
		changed = false
	}
	if changed {
		v.last, v.typed = c, ""
	}
}

// writeAt moves to where a command starts inserting.
func (v *Vi) writeAt(e *Editor, c viCmd) {
	end := len(e.lines[e.cur.row])
	switch c.key {
	case "a":
		e.move(pos{e.cur.row, min(e.cur.col+1, end)})
	case "A":
		e.move(pos{e.cur.row, end})
	case "I":
		e.move(e.find().firstText(e.cur.row))
	case "o":
		e.move(pos{e.cur.row, end})
		e.Newline()
	case "O":
		e.move(pos{e.cur.row, 0})
		e.Newline()
		e.move(pos{e.cur.row - 1, 0})
	}
	v.write(e, c)
}

// again repeats the last change, with a new count if one is given.
func (v *Vi) again(e *Editor, c viCmd) {
	last, typed := v.last, v.typed
	if last.key == "" {
		return
	}
	if c.count > 0 {
		last.count = c.count
	}
	if last.op != "" {
		v.operator(e, last)
	} else {
		v.change(e, last)
	}
	if v.mode == viInsert {
		e.replace(e.cur, e.cur, glyphLines(typed), false)
		v.leave(e)
	}
}

// operator runs d, c or y over a motion, an object, or whole lines.
func (v *Vi) operator(e *Editor, c viCmd) {
	s, ok := v.target(e, c)
	if !ok {
		return
	}
	e.openGroup()
	v.apply(e, c.op, s)
	if c.op != "y" {
		v.last, v.typed = c, ""
	}
	if c.op == "c" {
		v.write(e, c)
	}
}

// target returns what an operator works on.
func (v *Vi) target(e *Editor, c viCmd) (s viSpan, ok bool) {
	if c.key == c.op {
		return viSpan{from: e.cur, to: pos{min(e.cur.row+c.times()-1, len(e.lines)-1), 0}, lines: true}, true
	}
	if s, ok = e.find().object(c); ok {
		return s, true
	}
	if c.op == "c" && (c.key == "w" || c.key == "W") && e.find().class(e.cur, false) != classBlank {
		return viSpan{from: e.cur, to: e.changedWord(c)}, true
	}
	to, reach, ok := v.motion(e, c)
	if !ok {
		return viSpan{}, false
	}
	from := e.cur
	if to.before(from) {
		from, to = to, from
	}
	switch {
	case reach == linewise:
		return viSpan{from: from, to: to, lines: true}, true
	case reach == inclusive:
		to.col = min(to.col+1, len(e.lines[to.row]))
	case to.row > from.row && (c.key == "w" || c.key == "W") && e.onlyBlanksBefore(to):
		// A word at the end of a line does not include the line end.
		to = pos{to.row - 1, len(e.lines[to.row-1])}
		for to.row > from.row && e.onlyBlanksBefore(to) {
			to = pos{to.row - 1, len(e.lines[to.row-1])}
		}
	case to.row > from.row && to.col == 0:
		// Up to the start of a line means up to the end of the one before.
		to = pos{to.row - 1, len(e.lines[to.row-1])}
		if first := e.find().firstText(from.row); !first.before(from) {
			return viSpan{from: from, to: to, lines: true}, true
		}
	}
	return viSpan{from: from, to: to}, from != to || c.op == "c"
}

// changedWord returns where cw ends: after the word, not before the next one.
func (e *Editor) changedWord(c viCmd) pos {
	p, big := e.cur, c.key == "W"
	for i := range c.times() {
		if i > 0 {
			p = e.find().wordEnd(pos{p.row, p.col - 1}, big)
		}
		for k := e.find().class(p, big); p.col < len(e.lines[p.row]) && e.find().class(p, big) == k; {
			p.col++
		}
	}
	return p
}

// onlyBlanksBefore reports whether only white space precedes a position in its line.
func (e *Editor) onlyBlanksBefore(p pos) bool {
	for col := range p.col {
		if e.find().class(pos{p.row, col}, false) != classBlank {
			return false
		}
	}
	return true
}

// apply cuts or copies a span; with c the cursor is left where inserting continues.
func (v *Vi) apply(e *Editor, op string, s viSpan) {
	if !s.lines {
		v.keep(e, e.between(s.from, s.to), false)
		if op == "y" {
			e.move(s.from)
		} else {
			e.remove(s.from, s.to)
		}
		return
	}
	first, last := s.from.row, s.to.row
	end := pos{last, len(e.lines[last])}
	v.keep(e, e.between(pos{first, 0}, end), true)
	switch {
	case op == "y":
		e.move(pos{first, e.cur.col})
	case op == "c":
		e.remove(pos{first, 0}, end)
		e.move(pos{first, 0})
	case last < len(e.lines)-1:
		e.remove(pos{first, 0}, pos{last + 1, 0})
		e.move(e.find().firstText(first))
	case first > 0:
		e.remove(pos{first - 1, len(e.lines[first-1])}, end)
		e.move(e.find().firstText(first - 1))
	default:
		e.remove(pos{}, end)
	}
}

// keep stores what was cut or copied; ctrl+y inserts it as well.
func (v *Vi) keep(e *Editor, lines [][]glyph, whole bool) {
	v.reg, v.regLines = cloneLines(lines), whole
	e.cut, e.cutting = plainText(lines), false
}

// put inserts what was cut or copied after the cursor, with P before it; whole lines below or above its line.
func (v *Vi) put(e *Editor, c viCmd) {
	reg, whole := v.reg, v.regLines
	if plainText(reg) != e.cut { // something else was cut meanwhile
		reg, whole = glyphLines(e.cut), false
	}
	if len(reg) == 0 || len(reg) == 1 && len(reg[0]) == 0 && !whole {
		return
	}
	var ins [][]glyph
	for i := range c.times() {
		if i == 0 || whole {
			ins = append(ins, cloneLines(reg)...)
			continue
		}
		n := len(ins) - 1
		ins[n] = append(ins[n], reg[0]...)
		ins = append(ins, cloneLines(reg[1:])...)
	}
	line := e.lines[e.cur.row]
	at := e.cur
	switch {
	case whole && c.key == "p":
		at = pos{e.cur.row, len(line)}
		e.replace(at, at, append([][]glyph{{}}, ins...), false)
		e.move(e.find().firstText(at.row + 1))
		return
	case whole:
		at = pos{e.cur.row, 0}
		e.replace(at, at, append(ins, []glyph{}), false)
		e.move(e.find().firstText(at.row))
		return
	case c.key == "p":
		at.col = min(at.col+1, len(line))
	}
	e.replace(at, at, ins, false)
	if len(ins) > 1 {
		e.move(at)
	} else {
		e.move(pos{at.row, max(at.col+len(ins[0])-1, 0)})
	}
}

// replaceChars overwrites the next characters, as many as the count says, with one character.
func (e *Editor) replaceChars(c viCmd) bool {
	line, n := e.lines[e.cur.row], c.times()
	from := e.cur
	if from.col+n > len(line) {
		return false
	}
	to := pos{from.row, from.col + n}
	e.replace(from, to, glyphLines(strings.Repeat(c.arg, n)), false)
	e.move(pos{from.row, to.col - 1})
	return true
}

// swapCase swaps upper and lower case in one line.
func (e *Editor) swapCase(from, to pos) {
	if !from.before(to) {
		return
	}
	swapped := cloneLines(e.between(from, to))
	for _, line := range swapped {
		for i := range line {
			if line[i].paste == "" {
				line[i].s = swapLetter(line[i].s)
			}
		}
	}
	e.replace(from, to, swapped, false)
}

func swapLetter(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case unicode.IsUpper(r):
		return string(unicode.ToLower(r)) + s[n:]
	case unicode.IsLower(r):
		return string(unicode.ToUpper(r)) + s[n:]
	}
	return s
}

// join appends the next line to the cursor's, with one space between them if there is text on both sides.
func (e *Editor) join() bool {
	row := e.cur.row
	if row >= len(e.lines)-1 {
		return false
	}
	end := pos{row, len(e.lines[row])}
	next := pos{row + 1, 0}
	for e.find().class(next, false) == classBlank && next.col < len(e.lines[row+1]) {
		next.col++
	}
	between := [][]glyph{{}}
	blankBefore := end.col == 0 || e.find().class(pos{row, end.col - 1}, false) == classBlank
	if rest := e.lines[row+1][next.col:]; len(rest) > 0 && rest[0].s != ")" && !blankBefore {
		between = [][]glyph{{{s: " ", w: 1}}}
	}
	e.replace(end, next, between, false)
	e.move(end)
	return true
}
