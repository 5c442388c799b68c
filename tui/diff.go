package tui

import (
	"strconv"
	"strings"

	"jcode/internal/cells"
	"jcode/internal/diff"
	"jcode/internal/text"
	"jcode/tui/markdown"
)

// diffKind says what a line of a diff is.
type diffKind byte

const (
	diffSame diffKind = ' '
	diffAdd  diffKind = '+'
	diffDel  diffKind = '-'
	diffHead diffKind = '@'
	diffFile diffKind = 'f'
	diffNote diffKind = '\\'
)

// diffLine is one line of a parsed unified diff.
type diffLine struct {
	kind     diffKind
	text     string
	old, now int         // line numbers, 0 = none
	words    []diff.Span // what differs from its partner
	partner  int         // index of the line that it replaces or that replaces it, -1 = none
}

// splitWidth is the least width in cells for a diff side by side.
const splitWidth = 110

// drawDiff shows a unified diff with line numbers, colours and the words that differ, at
// most limit lines of it; side by side where the look allows and there is room.
func drawDiff(src string, l *look, width, limit int) []string {
	parsed, lang := parseDiff(src)
	if len(parsed) == 0 {
		return nil
	}
	d := diffDrawer{l: l, width: width, lines: parsed, syntax: l.theme.Markdown.Syntax, lang: lang}
	for _, p := range parsed {
		d.digits = max(d.digits, len(strconv.Itoa(max(p.old, p.now))))
	}
	var out []string
	if l.split && width >= splitWidth {
		out = d.sideBySide(limit + 1)
	} else {
		out = d.unified(limit + 1)
	}
	if len(out) > limit {
		out = out[:limit]
		changed := 0
		for _, p := range parsed {
			if p.kind == diffAdd || p.kind == diffDel {
				changed++
			}
		}
		out = append(out, cells.Paint(l.theme.Faint, cells.Fit("… "+count(changed, "changed line")+" in all", width)))
	}
	return out
}

// parseDiff reads a unified diff. What it cannot read is kept as a note.
func parseDiff(src string) (lines []diffLine, lang string) {
	old, now := 0, 0
	inHunk := false
	files := 0
	for _, s := range strings.Split(strings.TrimRight(text.Strip(src), "\n"), "\n") {
		s = strings.TrimRight(s, "\r")
		switch {
		case strings.HasPrefix(s, "@@"):
			old, now = hunkStart(s)
			inHunk = true
			lines = append(lines, diffLine{kind: diffHead, text: s, partner: -1})
		case strings.HasPrefix(s, "--- ") && !inHunk, strings.HasPrefix(s, "diff "), strings.HasPrefix(s, "index "):
			inHunk = false
		case strings.HasPrefix(s, "+++ ") && !inHunk:
			name := strings.TrimPrefix(strings.TrimPrefix(s, "+++ "), "b/")
			lang = markdown.LanguageOf(name)
			files++
			if files > 1 {
				lines = append(lines, diffLine{kind: diffFile, text: name, partner: -1})
			}
		case strings.HasPrefix(s, "+"):
			lines = append(lines, diffLine{kind: diffAdd, text: s[1:], now: now, partner: -1})
			now++
		case strings.HasPrefix(s, "-"):
			lines = append(lines, diffLine{kind: diffDel, text: s[1:], old: old, partner: -1})
			old++
		case strings.HasPrefix(s, "\\"):
			lines = append(lines, diffLine{kind: diffNote, text: strings.TrimSpace(s[1:]), partner: -1})
		default:
			lines = append(lines, diffLine{kind: diffSame, text: strings.TrimPrefix(s, " "), old: old, now: now, partner: -1})
			old++
			now++
		}
	}
	pairLines(lines)
	return lines, lang
}

// hunkStart reads the first line numbers of "@@ -3,7 +3,8 @@".
func hunkStart(s string) (old, now int) {
	fields := strings.Fields(s)
	for _, f := range fields {
		n, _, _ := strings.Cut(f[1:], ",")
		v, err := strconv.Atoi(n)
		if err != nil {
			continue // the marks and the heading behind them
		}
		switch f[0] {
		case '-':
			old = v
		case '+':
			now = v
		}
	}
	return old, now
}

// pairLines finds, in each run of removed lines that added ones follow, which belong
// together, and what differs in them.
func pairLines(lines []diffLine) {
	for i := 0; i < len(lines); {
		if lines[i].kind != diffDel {
			i++
			continue
		}
		dels := i
		for i < len(lines) && lines[i].kind == diffDel {
			i++
		}
		adds := i
		for i < len(lines) && lines[i].kind == diffAdd {
			i++
		}
		pairRun(lines, dels, adds, i)
	}
}

// pairRun pairs the removed lines from dels with the added ones from adds up to end, in
// their order, by how much they have in common.
func pairRun(lines []diffLine, dels, adds, end int) {
	const lookahead = 8
	next := adds
	for k := dels; k < adds; k++ {
		best, at := 50, -1
		for j := next; j < min(next+lookahead, end); j++ {
			if s := similar(lines[k].text, lines[j].text); s > best {
				best, at = s, j
			}
		}
		if at < 0 {
			continue
		}
		a, b := &lines[k], &lines[at]
		a.partner, b.partner = at, k
		a.words, b.words = diff.Words(a.text, b.text)
		next = at + 1
	}
}

// similar gives the share, in percent, of the longer line that both lines begin and end with.
func similar(a, b string) int {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	short, long := min(len(a), len(b)), max(len(a), len(b))
	if long == 0 {
		return 0
	}
	head := 0
	for head < short && a[head] == b[head] {
		head++
	}
	foot := 0
	for foot < short-head && a[len(a)-1-foot] == b[len(b)-1-foot] {
		foot++
	}
	return (head + foot) * 100 / long
}

// diffDrawer draws the lines of one diff.
type diffDrawer struct {
	l      *look
	width  int
	lines  []diffLine
	digits int
	syntax markdown.Syntax
	lang   string
}

// unified draws lines one below the other: number, sign, text.
func (d *diffDrawer) unified(limit int) []string {
	h := markdown.NewHighlighter(d.lang, d.syntax)
	var out []string
	for i, ln := range d.lines {
		if len(out) >= limit {
			break
		}
		if row, ok := d.heading(ln, i); ok {
			if row != "" {
				out = append(out, row)
			}
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

// heading draws what is no line of a file; ok is false for those.
func (d *diffDrawer) heading(ln diffLine, i int) (row string, ok bool) {
	switch ln.kind {
	case diffHead:
		if i == 0 {
			return "", true
		}
		return cells.Paint(d.l.theme.Faint, cells.Fit("⋯", d.width)), true
	case diffFile:
		return cells.Paint(d.l.theme.Strong, cells.FitStart(ln.text, d.width)), true
	case diffNote:
		return cells.Paint(d.l.theme.Faint, cells.Fit(ln.text, d.width)), true
	case diffSame, diffAdd, diffDel:
	}
	return "", false
}

// row draws one line of a file, folded to width; with fill the rest of the width is blank.
func (d *diffDrawer) row(h *markdown.Highlighter, ln diffLine, n, width int, fill bool) []string {
	style, word := cells.Style(""), cells.Style("")
	switch ln.kind {
	case diffAdd:
		style, word = d.l.theme.Added, d.l.theme.AddedWord
	case diffDel:
		style, word = d.l.theme.Removed, d.l.theme.RemovedWord
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
	spans := overlay(h.Line(ln.text), ln.words, word)
	for i := range spans {
		spans[i].Style = style.With(spans[i].Style)
	}
	var out []string
	for i, part := range cells.Fold(expandSpans(spans), room) {
		g, sign := gutter, string(rune(ln.kind))+" "
		if i > 0 {
			g, sign = cells.Blank(len(gutter)), "  "
		}
		line := append([]cells.Span{{Text: g, Style: d.l.theme.Faint}, {Text: sign, Style: style}}, part...)
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
	left, right := markdown.NewHighlighter(d.lang, d.syntax), markdown.NewHighlighter(d.lang, d.syntax)
	bar := cells.Paint(d.l.theme.Border, "│")
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
	add := func(i int) []string { return d.row(right, d.lines[i], d.lines[i].now, half, false) }
	shown := map[int]bool{}
	for i, ln := range d.lines {
		if len(out) >= limit {
			break
		}
		if row, ok := d.heading(ln, i); ok {
			if row != "" {
				out = append(out, row)
			}
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
			both(d.row(left, ln, ln.old, half, true), d.row(right, ln, ln.now, half, false))
		case diffHead, diffFile, diffNote:
		}
	}
	return out
}

// firstAdd gives the index of the first added line of the run that a removed line belongs to.
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

// expandSpans replaces tabs by blanks.
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
