package transcript

import (
	"strconv"
	"strings"

	"jcode/internal/cells"
	"jcode/internal/diff"
	"jcode/internal/text"
	"jcode/tui/look"
	"jcode/tui/markdown"
)

// DrawDiff shows a unified diff with line numbers, colours and the words that differ, at
// most limit lines of it.
func DrawDiff(src string, l *look.Look, width, limit int) []string {
	parsed := ParseDiff(src)
	if len(parsed.lines) == 0 {
		return nil
	}
	d := diffDrawer{l: l, width: width, lines: parsed.lines, syntax: l.Theme.Markdown.Syntax, digits: parsed.digits(), files: parsed.Files}
	var out []string
	if parsed.Splits(l, width) {
		out = d.sideBySide(limit + 1)
	} else {
		out = d.unified(limit + 1)
	}
	if len(out) > limit {
		out = out[:limit]
		out = append(out, cells.Paint(l.Theme.Faint, cells.Fit("… "+text.Count(parsed.Added+parsed.Removed, "changed line")+" in all"+l.Unfolds(), width)))
	}
	return out
}

// diffDrawer draws the lines of one diff.
type diffDrawer struct {
	l      *look.Look
	width  int
	lines  []diffLine
	files  int
	digits int
	syntax markdown.Syntax
}

// highlighter colours the lines of a file.
func (d *diffDrawer) highlighter(file string) *markdown.Highlighter {
	return markdown.NewHighlighter(markdown.LanguageOf(file), d.syntax)
}

// unified draws lines one below the other: number, sign, text.
func (d *diffDrawer) unified(limit int) []string {
	h := d.highlighter("")
	var out []string
	for i, ln := range d.lines {
		if len(out) >= limit {
			break
		}
		if ln.kind == diffFile {
			h = d.highlighter(ln.text)
		}
		if rows, ok := d.heading(ln, i); ok {
			out = append(out, rows...)
			continue
		}
		n := ln.now
		if ln.kind == diffDel {
			n = ln.old
		}
		out = append(out, d.row(h, ln, n, d.width, false)...)
	}
	return out
}

// heading draws a line that is not part of a file; ok is false for the others.
func (d *diffDrawer) heading(ln diffLine, i int) (rows []string, ok bool) {
	switch ln.kind {
	case diffHead:
		if i > 0 && d.lines[i-1].kind != diffFile {
			rows = []string{cells.Paint(d.l.Theme.Faint, cells.Fit("⋯", d.width))}
		}
	case diffFile:
		if d.files > 1 { // otherwise the caller has named the file
			rows = []string{cells.Paint(d.l.Theme.Strong, cells.FitStart(ln.text, d.width))}
		}
	case diffNote:
		rows = []string{cells.Paint(d.l.Theme.Faint, cells.Fit(ln.text, d.width))}
	case diffSame, diffAdd, diffDel:
		return nil, false
	}
	return rows, true
}

// row draws one line of a file, folded to width; with fill it is padded to the full width.
func (d *diffDrawer) row(h *markdown.Highlighter, ln diffLine, n, width int, fill bool) []string {
	style, word, told := cells.Style(""), cells.Style(""), d.l.Theme.Faint
	switch ln.kind {
	case diffAdd:
		style, word, told = d.l.Theme.Added, d.l.Theme.AddedWord, d.l.Theme.Good
	case diffDel:
		style, word, told = d.l.Theme.Removed, d.l.Theme.RemovedWord, d.l.Theme.Bad
	case diffSame, diffHead, diffFile, diffNote:
	}
	number := ""
	if n > 0 {
		number = strconv.Itoa(n)
	}
	gutter := cells.Blank(d.digits-len(number)) + number + " "
	room := max(width-d.digits-3, 1)
	if width < d.digits+8 { // no room for numbers
		gutter, room = "", max(width-2, 1)
	}
	spans := h.Line(ln.text)
	if d.l.Theme.Untinted && style != "" { // its colour is what says that it changed
		spans = []cells.Span{{Text: ln.text}}
	}
	spans = overlay(spans, ln.words, word)
	for i := range spans {
		spans[i].Style = style.With(spans[i].Style)
	}
	var out []string
	for i, part := range cells.Fold(expandSpans(spans), room) {
		g, sign, signed := gutter, string(rune(ln.kind))+" ", style.With(told)
		if i > 0 {
			g, sign, signed = cells.Blank(len(gutter)), look.Folded, style.With(d.l.Theme.Faint)
		}
		line := append([]cells.Span{{Text: g, Style: told}, {Text: sign, Style: signed}}, part...)
		if pad := room - cells.SpansWidth(part); pad > 0 && (fill || style != "") {
			line = append(line, cells.Span{Text: cells.Blank(pad), Style: style})
		}
		out = append(out, cells.Render(line))
	}
	return out
}

// sideBySide draws the old lines on the left and the new ones on the right.
func (d *diffDrawer) sideBySide(limit int) []string {
	half := (d.width - 1) / 2
	rest := d.width - 1 - half // to the right edge
	left, right := d.highlighter(""), d.highlighter("")
	bar := cells.Paint(d.l.Theme.Border, "│")
	var out []string
	both := func(a, b []string) {
		for i := range max(len(a), len(b)) {
			l, r := cells.Blank(half), ""
			if i < len(a) {
				l = a[i]
			}
			if i < len(b) {
				r = b[i]
			}
			out = append(out, l+bar+r)
		}
	}
	add := func(i int) []string { return d.row(right, d.lines[i], d.lines[i].now, rest, false) }
	shown := map[int]bool{}
	for i, ln := range d.lines {
		if len(out) >= limit {
			break
		}
		if ln.kind == diffFile {
			left, right = d.highlighter(ln.text), d.highlighter(ln.text)
		}
		if rows, ok := d.heading(ln, i); ok {
			out = append(out, rows...)
			continue
		}
		switch ln.kind {
		case diffDel:
			if ln.partner < 0 {
				both(d.row(left, ln, ln.old, half, true), nil)
				continue
			}
			for j := d.firstAdd(i); j < ln.partner; j++ { // new lines above the partner come first
				if !shown[j] {
					shown[j] = true
					both(nil, add(j))
				}
			}
			shown[ln.partner] = true
			both(d.row(left, ln, ln.old, half, true), add(ln.partner))
		case diffAdd:
			if !shown[i] {
				both(nil, add(i))
			}
		case diffSame:
			both(d.row(left, ln, ln.old, half, true), d.row(right, ln, ln.now, rest, false))
		case diffHead, diffFile, diffNote:
		}
	}
	return out
}

// firstAdd returns the index of the first added line of the run that a removed line belongs to.
func (d *diffDrawer) firstAdd(i int) int {
	for i < len(d.lines) && d.lines[i].kind == diffDel {
		i++
	}
	return i
}

// overlay adds a style to byte ranges of a line.
func overlay(spans []cells.Span, ranges []diff.Span, style cells.Style) []cells.Span {
	if len(ranges) == 0 {
		return spans
	}
	var out []cells.Span
	at, r := 0, 0
	for _, s := range spans {
		for t := s.Text; len(t) > 0; {
			for r < len(ranges) && ranges[r].End <= at {
				r++
			}
			n, in := len(t), false
			if r < len(ranges) {
				switch {
				case ranges[r].Start > at:
					n = min(n, ranges[r].Start-at)
				default:
					in = true
					n = min(n, ranges[r].End-at)
				}
			}
			part := cells.Span{Text: t[:n], Style: s.Style}
			if in {
				part.Style = s.Style.With(style)
			}
			out = append(out, part)
			t = t[n:]
			at += n
		}
	}
	return out
}

// expandSpans replaces tabs with spaces.
func expandSpans(spans []cells.Span) []cells.Span {
	col := 0
	for i, s := range spans {
		if strings.Contains(s.Text, "\t") {
			// Columns count from the line's start, not from the span's.
			pad := cells.Blank(col % 4)
			spans[i].Text = strings.TrimPrefix(cells.ExpandTabs(pad+s.Text, 4), pad)
		}
		col += cells.Width(spans[i].Text)
	}
	return spans
}
