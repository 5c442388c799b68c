package editor

import "strings"

// selection returns what a visual mode has selected.
func (v *Vi) selection(e *Editor) (s viSpan, ok bool) {
	if v.mode != viVisual && v.mode != viLines {
		return viSpan{}, false
	}
	from, to := v.anchor, e.cur
	if to.before(from) {
		from, to = to, from
	}
	if from.row >= len(e.lines) || to.row >= len(e.lines) {
		return viSpan{}, false // the text was replaced
	}
	if v.mode == viLines {
		return viSpan{from: from, to: to, lines: true}, true
	}
	from.col = min(from.col, len(e.lines[from.row]))
	to.col = min(to.col+1, len(e.lines[to.row]))
	return viSpan{from: from, to: to}, true
}

// visual handles a key while something is selected.
func (v *Vi) visual(e *Editor, c viCmd) {
	s, ok := v.selection(e)
	if !ok {
		v.mode = viNormal
		return
	}
	switch c.key {
	case "v", "V":
		mode := viVisual
		if c.key == "V" {
			mode = viLines
		}
		if v.mode == mode {
			mode = viNormal
		}
		v.mode = mode
	case "o":
		v.anchor, e.cur = e.cur, v.anchor
	case "d", "x", "D", "X", "c", "s", "C", "S", "y", "Y", "~", "J", "r", "p", "P":
		v.changeSelected(e, c, s)
	case "j", "k":
		to, _, _ := v.motion(e, c)
		e.move(pos{to.row, min(v.goal, max(len(e.lines[to.row])-1, 0))})
	default:
		if o, ok := e.find().object(c); ok {
			v.mode, v.anchor = viVisual, o.from
			if o.lines {
				v.mode = viLines
			}
			e.move(o.to)
			if !o.lines && o.to.col > 0 {
				e.move(pos{o.to.row, o.to.col - 1})
			}
			return
		}
		if to, _, ok := v.motion(e, c); ok {
			e.move(to)
			v.goal = e.cur.col
		}
	}
}

// changeSelected changes what is selected.
func (v *Vi) changeSelected(e *Editor, c viCmd, s viSpan) {
	e.openGroup()
	v.mode = viNormal
	switch c.key {
	case "~":
		eachLine(e, s, e.swapCase)
		e.move(s.from)
	case "r":
		eachLine(e, s, func(from, to pos) {
			e.replace(from, to, glyphLines(strings.Repeat(c.arg, to.col-from.col)), false)
		})
		e.move(s.from)
	case "J":
		e.move(pos{s.from.row, 0})
		for range max(s.to.row-s.from.row, 1) {
			e.join()
		}
	case "p", "P":
		v.putOver(e, c, s)
	default:
		op := strings.ToLower(c.key)
		s.lines = s.lines || op != c.key // the capitals apply to whole lines
		switch op {
		case "x":
			op = "d"
		case "s":
			op = "c"
		}
		v.apply(e, op, s)
		if op == "c" {
			v.write(e, viCmd{})
		}
	}
}

// putOver replaces a selection with what was cut or copied; the selection can then be put elsewhere.
func (v *Vi) putOver(e *Editor, c viCmd, s viSpan) {
	put := Vi{reg: v.reg, regLines: v.regLines && s.lines}
	cut := e.cut
	v.apply(e, "c", s)
	e.cut, cut = cut, e.cut
	put.put(e, viCmd{count: c.count, key: "P"})
	e.cut = cut
	if put.regLines { // the line that became empty
		row := s.from.row + len(put.reg)*c.times()
		e.remove(pos{row - 1, len(e.lines[row-1])}, pos{row, 0})
		e.move(e.find().firstText(s.from.row))
	}
}

// eachLine calls f with the part of each line that a span covers.
func eachLine(e *Editor, s viSpan, f func(from, to pos)) {
	for row := s.from.row; row <= s.to.row; row++ {
		from, to := pos{row, 0}, pos{row, len(e.lines[row])}
		if !s.lines && row == s.from.row {
			from = s.from
		}
		if !s.lines && row == s.to.row {
			to = s.to
		}
		if from.before(to) {
			f(from, to)
		}
	}
}
