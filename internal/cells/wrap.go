package cells

import "strings"

// piece is a part of the text of a span.
type piece struct{ span, from, to int }

// wrapper breaks spans into lines. A word waits until it is known whether it fits.
type wrapper struct {
	spans []Span
	width int
	lines [][]Span

	line, word, gap    []piece
	lineW, wordW, gapW int
	// breakable says that a break is allowed after the word so far: its last cluster is
	// wide, as in Chinese or Japanese.
	breakable bool
}

// Wrap breaks spans into lines of at most width cells: between words where possible, in wide
// scripts between characters, and within a word that is wider than a line, after a slash if it has one. A newline in the text
// always breaks. Spaces at a break are dropped. A character that is wider than the line gets a
// line of its own. There is at least one line.
func Wrap(spans []Span, width int) [][]Span {
	w := wrapper{spans: spans, width: max(width, 1)}
	for i := range spans {
		w.add(i)
	}
	w.flushWord()
	w.newLine()
	return w.lines
}

// WrapText is Wrap for text without styles.
func WrapText(s string, width int) string {
	var lines []string
	for _, spans := range Wrap([]Span{{Text: s}}, width) {
		line := ""
		for _, span := range spans {
			line += span.Text
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (w *wrapper) add(span int) {
	t := w.spans[span].Text
	for i := 0; i < len(t); {
		switch c := t[i]; {
		case c == '\n':
			w.flushWord()
			w.newLine()
			i++
		case c == ' ' && (i+1 == len(t) || t[i+1] < 0x80):
			j := i + 1
			for j < len(t) && t[j] == ' ' && (j+1 == len(t) || t[j+1] < 0x80) {
				j++
			}
			w.flushWord()
			w.gap = push(w.gap, piece{span, i, j})
			w.gapW += j - i
			i = j
		case plain(t, i):
			j := i + 1
			for j < len(t) && t[j] != ' ' && plain(t, j) {
				j++
			}
			w.addWord(piece{span, i, j}, j-i, false)
			i = j
		default:
			cluster, cw := Next(t[i:])
			w.addWord(piece{span, i, i + len(cluster)}, cw, cw > 1)
			i += len(cluster)
		}
	}
}

// plain reports whether the byte at i is a printable ASCII character that no mark follows.
func plain(t string, i int) bool {
	return t[i] >= 0x20 && t[i] < 0x7f && (i+1 == len(t) || t[i+1] < 0x80)
}

func (w *wrapper) addWord(p piece, width int, wide bool) {
	if (wide || w.breakable) && !closing(w.spans[p.span].Text[p.from:p.to]) {
		w.flushWord()
	}
	w.word = push(w.word, p)
	w.wordW += width
	w.breakable = wide
}

// closing reports whether a cluster must not begin a line.
func closing(cluster string) bool {
	return strings.Contains("、。，．：；！？）】」』〉》〕］｝ー…", cluster)
}

// push appends a piece, joined with the one before where they touch.
func push(list []piece, p piece) []piece {
	if n := len(list); n > 0 && list[n-1].span == p.span && list[n-1].to == p.from {
		list[n-1].to = p.to
		return list
	}
	return append(list, p)
}

// flushWord moves the waiting word to the line, or to a new one.
func (w *wrapper) flushWord() {
	if len(w.word) == 0 {
		return
	}
	if w.lineW+w.gapW+w.wordW > w.width && (w.lineW > 0 || w.gapW > 0) {
		w.breakLine()
	}
	for _, p := range w.gap {
		w.line = push(w.line, p)
	}
	w.lineW += w.gapW
	w.gap, w.gapW = w.gap[:0], 0
	if w.lineW+w.wordW <= w.width {
		for _, p := range w.word {
			w.line = push(w.line, p)
		}
		w.lineW += w.wordW
	} else {
		w.splitWord()
	}
	w.word, w.wordW, w.breakable = w.word[:0], 0, false
}

// breakLine ends the line before a word that does not fit. It drops the spaces in between, and an
// indentation that leaves no room.
func (w *wrapper) breakLine() {
	w.gap, w.gapW = w.gap[:0], 0
	if w.lineW > 0 {
		w.emit()
	}
}

// splitWord splits a word that is wider than a line over several lines: after slashes where possible, so that the
// names in a path stay whole.
func (w *wrapper) splitWord() {
	var part []piece
	partW := 0
	flush := func() {
		if w.lineW > 0 && w.lineW+partW > w.width {
			w.emit()
		}
		for _, p := range part {
			w.addClusters(p, partW > w.width)
		}
		if partW <= w.width {
			w.lineW += partW
		}
		part, partW = part[:0], 0
	}
	slash := false
	for _, p := range w.word {
		t := w.spans[p.span].Text
		for i := p.from; i < p.to; {
			c, cw := Next(t[i:p.to])
			if slash && c != "/" {
				flush()
			}
			slash = c == "/"
			part = push(part, piece{p.span, i, i + len(c)})
			partW += cw
			i += len(c)
		}
	}
	flush()
}

// addClusters adds a piece to the line; with split it breaks the line between any two clusters.
func (w *wrapper) addClusters(p piece, split bool) {
	if !split {
		w.line = push(w.line, p)
		return
	}
	t := w.spans[p.span].Text
	for i := p.from; i < p.to; {
		c, cw := Next(t[i:p.to])
		if w.lineW > 0 && w.lineW+cw > w.width {
			w.emit()
		}
		w.line = push(w.line, piece{p.span, i, i + len(c)})
		w.lineW += cw
		i += len(c)
	}
}

// newLine ends the line at a newline or the end of the text.
func (w *wrapper) newLine() {
	w.gap, w.gapW = w.gap[:0], 0
	w.emit()
}

func (w *wrapper) emit() {
	out := make([]Span, len(w.line))
	for i, p := range w.line {
		s := w.spans[p.span]
		out[i] = Span{Text: s.Text[p.from:p.to], Style: s.Style, Link: s.Link}
	}
	w.lines = append(w.lines, out)
	w.line, w.lineW = w.line[:0], 0
}

// Fold breaks spans into lines of at most width cells at any grapheme border and keeps all
// spaces: for code and output. A newline in the text always breaks.
func Fold(spans []Span, width int) [][]Span {
	width = max(width, 1)
	var lines [][]Span
	var line []Span
	n := 0
	for _, s := range spans {
		t := s.Text
		for len(t) > 0 {
			end, w, why := run(t, width-n, n == 0)
			if end > 0 {
				line = append(line, Span{Text: t[:end], Style: s.Style, Link: s.Link})
				n += w
				t = t[end:]
			}
			if why == runDone {
				break
			}
			lines = append(lines, line)
			line, n = nil, 0
			if why == runNewline {
				t = t[1:]
			}
		}
	}
	return append(lines, line)
}

type runEnd int

const (
	runDone runEnd = iota
	runNewline
	runFull
)

// run measures how much of t fits into room cells; with first set at least one cluster does.
func run(t string, room int, first bool) (end, width int, why runEnd) {
	for end < len(t) {
		if t[end] == '\n' {
			return end, width, runNewline
		}
		c, w := Next(t[end:])
		if width+w > room && !(first && end == 0) {
			return end, width, runFull
		}
		end += len(c)
		width += w
	}
	return end, width, runDone
}
