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

// parsedDiff is a unified diff as it is shown.
type parsedDiff struct {
	lines          []diffLine
	files          int
	added, removed int
	longest        int // width of the widest line, in cells
}

// layout says how diffs are drawn.
type layout int

const (
	layoutAuto  layout = iota // side by side where nothing folds
	layoutOne                 // one line below the other
	layoutSplit               // side by side where there is room
)

// splits reports whether a diff is drawn side by side: not where one side would be empty or
// a line would fold, unless the person asked for it.
func (d parsedDiff) splits(l *look, width int) bool {
	switch {
	case width < splitWidth || l.diffs == layoutOne:
		return false
	case l.diffs == layoutSplit:
		return true
	}
	return d.added > 0 && d.removed > 0 && d.longest <= (width-1)/2-d.digits()-3
}

// switchDiffs turns from one way of drawing a diff to the other.
func (l *look) switchDiffs(src string, width int) {
	if parseDiff(src).splits(l, width-2) {
		l.diffs = layoutOne
	} else {
		l.diffs = layoutSplit
	}
}

// digits is the width of its line numbers.
func (d parsedDiff) digits() int {
	most := 0
	for _, p := range d.lines {
		most = max(most, p.old, p.now)
	}
	return len(strconv.Itoa(most))
}

// drawDiff shows a unified diff with line numbers, colours and the words that differ, at
// most limit lines of it.
func drawDiff(src string, l *look, width, limit int) []string {
	parsed := parseDiff(src)
	if len(parsed.lines) == 0 {
		return nil
	}
	d := diffDrawer{l: l, width: width, lines: parsed.lines, syntax: l.theme.Markdown.Syntax, digits: parsed.digits(), files: parsed.files}
	var out []string
	if parsed.splits(l, width) {
		out = d.sideBySide(limit + 1)
	} else {
		out = d.unified(limit + 1)
	}
	if len(out) > limit {
		out = out[:limit]
		out = append(out, cells.Paint(l.theme.Faint, cells.Fit("… "+count(parsed.added+parsed.removed, "changed line")+" in all"+l.unfolds(), width)))
	}
	return out
}

// diffReader takes a unified diff apart.
type diffReader struct {
	parsedDiff
	old, now         int // numbers of the next lines
	oldLeft, nowLeft int // lines that the hunk still has
	from             string
	crlf             bool // every line ends in CR LF: the CR is not shown
}

// parseDiff reads a unified diff, with everything visible that its lines hold. What it
// cannot read is kept as a note.
func parseDiff(src string) parsedDiff {
	r := diffReader{crlf: endsInCR(src)}
	for s := range strings.SplitSeq(strings.TrimSuffix(src, "\n"), "\n") {
		if r.crlf {
			s = strings.TrimSuffix(s, "\r")
		}
		if s = text.Visible(s); r.oldLeft > 0 || r.nowLeft > 0 {
			r.inHunk(s)
		} else {
			r.between(s)
		}
	}
	pairLines(r.lines)
	return r.parsedDiff
}

// endsInCR reports whether every changed line of a diff ends in CR LF.
func endsInCR(src string) bool {
	some := false
	for s := range strings.SplitSeq(strings.TrimSuffix(src, "\n"), "\n") {
		if s == "" || !strings.ContainsRune("+- ", rune(s[0])) || strings.HasPrefix(s, "--- ") || strings.HasPrefix(s, "+++ ") {
			continue
		}
		if !strings.HasSuffix(s, "\r") {
			return false
		}
		some = true
	}
	return some
}

// inHunk takes a line of a file.
func (r *diffReader) inHunk(s string) {
	switch {
	case strings.HasPrefix(s, "+"):
		r.add(diffLine{kind: diffAdd, text: s[1:], now: r.now})
		r.added, r.now, r.nowLeft = r.added+1, r.now+1, r.nowLeft-1
	case strings.HasPrefix(s, "-"):
		r.add(diffLine{kind: diffDel, text: s[1:], old: r.old})
		r.removed, r.old, r.oldLeft = r.removed+1, r.old+1, r.oldLeft-1
	case strings.HasPrefix(s, "\\"):
		r.add(diffLine{kind: diffNote, text: strings.TrimSpace(s[1:])})
	default:
		r.add(diffLine{kind: diffSame, text: strings.TrimPrefix(s, " "), old: r.old, now: r.now})
		r.old, r.now, r.oldLeft, r.nowLeft = r.old+1, r.now+1, r.oldLeft-1, r.nowLeft-1
	}
}

// between takes a line that belongs to no file: headers, hunks, notes.
func (r *diffReader) between(s string) {
	switch {
	case strings.HasPrefix(s, "@@"):
		r.hunk(s)
		r.add(diffLine{kind: diffHead, text: s})
	case strings.HasPrefix(s, "--- "):
		r.from = strings.TrimPrefix(s[4:], "a/")
	case strings.HasPrefix(s, "+++ "):
		name := strings.TrimPrefix(s[4:], "b/")
		if name == "/dev/null" {
			name = r.from
		}
		r.files++
		r.add(diffLine{kind: diffFile, text: name})
	case strings.HasPrefix(s, "diff "), strings.HasPrefix(s, "index "), s == "":
	case strings.HasPrefix(s, "\\"):
		r.add(diffLine{kind: diffNote, text: strings.TrimSpace(s[1:])})
	default:
		r.add(diffLine{kind: diffNote, text: s})
	}
}

func (r *diffReader) add(ln diffLine) {
	ln.partner = -1
	r.lines = append(r.lines, ln)
	r.longest = max(r.longest, cells.Width(cells.ExpandTabs(ln.text, 4)))
}

// hunk reads "@@ -3,7 +3,8 @@": first line and number of lines on both sides.
func (r *diffReader) hunk(s string) {
	fields := strings.Fields(strings.TrimPrefix(s, "@@"))
	for _, f := range fields[:min(len(fields), 2)] {
		first, count, many := strings.Cut(f[1:], ",")
		from, err := strconv.Atoi(first)
		n := 1
		if many && err == nil {
			n, err = strconv.Atoi(count)
		}
		if err != nil {
			continue
		}
		switch f[0] {
		case '-':
			r.old, r.oldLeft = from, n
		case '+':
			r.now, r.nowLeft = from, n
		}
	}
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
		if i == 0 || d.lines[i-1].kind == diffFile {
			return "", true
		}
		return cells.Paint(d.l.theme.Faint, cells.Fit("⋯", d.width)), true
	case diffFile:
		if d.files == 1 { // whoever shows the diff has named it
			return "", true
		}
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
		g, sign, signed := gutter, string(rune(ln.kind))+" ", style
		if i > 0 {
			g, sign, signed = cells.Blank(len(gutter)), folded, style.With(d.l.theme.Faint)
		}
		line := append([]cells.Span{{Text: g, Style: d.l.theme.Faint}, {Text: sign, Style: signed}}, part...)
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
	left, right := d.highlighter(""), d.highlighter("")
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
		if ln.kind == diffFile {
			left, right = d.highlighter(ln.text), d.highlighter(ln.text)
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
