package editor

import (
	"fmt"
	"slices"
	"strings"

	"jcode/internal/cells"
)

// Paste writes pasted text; a long paste folds to a chip.
func (e *Editor) Paste(s string) {
	lines := strings.Count(s, "\n") + 1
	if lines <= pasteLines && len(s) <= pasteBytes {
		e.replace(e.cur, e.cur, glyphLines(s), false)
		return
	}
	e.pastes++
	key := ""
	if e.ExpandKey != "" {
		key = " · " + e.ExpandKey
	}
	label := fmt.Sprintf("[Pasted text #%d: %d lines%s]", e.pastes, strings.Count(strings.TrimSuffix(s, "\n"), "\n")+1, key)
	if lines == 1 {
		label = fmt.Sprintf("[Pasted text #%d: %d characters%s]", e.pastes, len(s), key)
	}
	e.replace(e.cur, e.cur, [][]glyph{{chip(label, s)}}, false)
}

// A paste with more lines or bytes than these folds.
const (
	pasteLines = 8
	pasteBytes = 1200
)

// ExpandPaste shows the folded paste at or before the cursor in full; it reports whether there was one.
func (e *Editor) ExpandPaste() bool {
	for _, col := range []int{e.cur.col - 1, e.cur.col} {
		line := e.lines[e.cur.row]
		if col >= 0 && col < len(line) && line[col].paste != "" {
			at := pos{e.cur.row, col}
			e.replace(at, pos{at.row, col + 1}, glyphLines(line[col].paste), false)
			return true
		}
	}
	return false
}

// Chip writes a chip at the cursor, separated by spaces from adjoining words. text is what it represents.
func (e *Editor) Chip(label, text string) {
	ins := []glyph{chip(label, text), {s: " ", w: 1}}
	if at := e.find().left(e.cur); at.row == e.cur.row && e.find().class(at, false) != classBlank {
		ins = append([]glyph{{s: " ", w: 1}}, ins...)
	}
	e.replace(e.cur, e.cur, [][]glyph{ins}, false)
}

// Fold turns the first standalone, typed occurrence of word into a chip; the cursor must not be inside it. It
// reports whether there was one.
func (e *Editor) Fold(word, label string) bool {
	want := glyphs(word)
	for row, line := range e.lines {
		for from := 0; from+len(want) <= len(line); from++ {
			to := from + len(want)
			switch {
			case !slices.Equal(line[from:to], want),
				from > 0 && line[from-1].s != " ", to < len(line) && line[to].s != " ",
				e.cur.row == row && from < e.cur.col && e.cur.col < to:
				continue
			}
			cur := e.cur
			if cur.row == row && cur.col >= to {
				cur.col -= len(want) - 1
			}
			e.replace(pos{row, from}, pos{row, to}, [][]glyph{{chip(label, word)}}, false)
			e.cur, e.undos[len(e.undos)-1].after = cur, cur
			return true
		}
	}
	return false
}

// chip returns a glyph that shows a label in place of a text.
func chip(label, text string) glyph { return glyph{s: label, w: cells.Width(label), paste: text} }
