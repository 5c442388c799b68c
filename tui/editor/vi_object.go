package editor

// object returns a text object around the cursor: words, quotes, brackets, paragraphs; "i" selects the
// inside, "a" includes the surroundings.
func (e motions) object(c viCmd) (s viSpan, ok bool) {
	if len(c.key) < 2 || c.key[0] != 'i' && c.key[0] != 'a' {
		return viSpan{}, false
	}
	around := c.key[0] == 'a'
	switch kind := c.key[1:]; kind {
	case "w", "W":
		return e.wordObject(around, kind == "W", c.times())
	case `"`, "'", "`":
		return e.quoteObject(kind, around)
	case "(", ")", "b":
		return e.bracketObject("(", around, c.times())
	case "[", "]":
		return e.bracketObject("[", around, c.times())
	case "{", "}", "B":
		return e.bracketObject("{", around, c.times())
	case "<", ">":
		return e.bracketObject("<", around, c.times())
	case "p":
		return e.paragraphObject(around)
	}
	return viSpan{}, false
}

// wordObject selects n words from the cursor's on, or the white space under it; around includes the white
// space after it, or that before it if there is none.
func (e motions) wordObject(around, big bool, n int) (s viSpan, ok bool) {
	row, line := e.cur.row, e.lines[e.cur.row]
	if len(line) == 0 {
		return viSpan{}, false
	}
	class := func(col int) int { return e.class(pos{row, col}, big) }
	runEnd := func(col int) int {
		for c := class(col); col < len(line) && class(col) == c; {
			col++
		}
		return col
	}
	from := e.runStart(pos{row, min(e.cur.col, len(line)-1)}, big).col
	to, trailing := from, false
	for range n {
		if to >= len(line) {
			break
		}
		blank := class(to) == classBlank
		to = runEnd(to)
		if !around || to >= len(line) {
			trailing = blank
			continue
		}
		trailing = blank || class(to) == classBlank // what follows white space belongs to it
		if trailing {
			to = runEnd(to)
		}
	}
	if around && !trailing {
		for from > 0 && class(from-1) == classBlank {
			from--
		}
	}
	return viSpan{from: pos{row, from}, to: pos{row, to}}, true
}

// quoteObject selects the quoted text around the cursor, or the next one of its line.
func (e motions) quoteObject(quote string, around bool) (s viSpan, ok bool) {
	row, line := e.cur.row, e.lines[e.cur.row]
	var marks []int
	for col := 0; col < len(line); col++ {
		switch e.glyphAt(pos{row, col}) {
		case `\`:
			col++ // an escaped quote does not end it
		case quote:
			marks = append(marks, col)
		}
	}
	for i := 0; i+1 < len(marks); i += 2 {
		from, to := marks[i], marks[i+1]
		if e.cur.col > to {
			continue
		}
		if !around {
			return viSpan{from: pos{row, from + 1}, to: pos{row, to}}, true
		}
		to++
		end := to
		for end < len(line) && e.class(pos{row, end}, false) == classBlank {
			end++
		}
		for end == to && from > 0 && e.class(pos{row, from - 1}, false) == classBlank {
			from--
		}
		return viSpan{from: pos{row, from}, to: pos{row, end}}, true
	}
	return viSpan{}, false
}

// bracketObject selects the content of the levelth pair of brackets around the cursor.
func (e motions) bracketObject(opening string, around bool, level int) (s viSpan, ok bool) {
	closing := brackets[opening]
	from, ok := e.opener(e.cur, opening, closing, level)
	if !ok {
		return viSpan{}, false
	}
	to, ok := e.closer(from, opening, closing)
	if !ok {
		return viSpan{}, false
	}
	if around {
		return viSpan{from: from, to: e.right(to)}, true
	}
	return viSpan{from: e.right(from), to: to}, true
}

// paragraphObject selects the lines of a paragraph, or the empty ones; around includes the empty ones after
// it, or those before.
func (e motions) paragraphObject(around bool) (s viSpan, ok bool) {
	from, to := e.cur.row, e.cur.row
	empty := e.emptyAt(from)
	for from > 0 && e.emptyAt(from-1) == empty {
		from--
	}
	for to < len(e.lines)-1 && e.emptyAt(to+1) == empty {
		to++
	}
	if around {
		before := to
		for to < len(e.lines)-1 && e.emptyAt(to+1) != empty {
			to++
		}
		for to == before && from > 0 && e.emptyAt(from-1) != empty {
			from--
		}
	}
	return viSpan{from: pos{from, 0}, to: pos{to, 0}, lines: true}, true
}
