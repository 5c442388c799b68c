package transcript

import (
	"slices"
	"strconv"
	"strings"

	"jcode/internal/cells"
	"jcode/internal/diff"
	"jcode/internal/text"
	"jcode/tui/look"
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

// Diff is a unified diff prepared for display.
type Diff struct {
	lines          []diffLine
	Files          int
	Added, Removed int
	longest        int // width of the widest line, in cells
}

// Splits reports whether a diff is drawn side by side: not when one side would be empty or a line would fold,
// unless the person asked for it.
func (d Diff) Splits(l *look.Look, width int) bool {
	switch {
	case width < look.SplitWidth || l.Diffs == look.DiffOne:
		return false
	case l.Diffs == look.DiffSplit:
		return true
	}
	return d.Added > 0 && d.Removed > 0 && d.longest <= (width-1)/2-d.digits()-3
}

// SwitchDiffs switches between the two ways of drawing a diff.
func SwitchDiffs(l *look.Look, src string, width int) {
	if ParseDiff(src).Splits(l, width-2) {
		l.Diffs = look.DiffOne
	} else {
		l.Diffs = look.DiffSplit
	}
}

// digits returns the width of its line numbers.
func (d Diff) digits() int {
	most := 0
	for _, p := range d.lines {
		most = max(most, p.old, p.now)
	}
	return len(strconv.Itoa(most))
}

// diffReader parses a unified diff.
type diffReader struct {
	Diff
	old, now         int // numbers of the next lines
	oldLeft, nowLeft int // lines that the hunk still has
	from             string
	crlf             bool // every line ends in CR LF: the CR is not shown
}

// ParseDiff parses a unified diff and makes everything in its lines visible. What it cannot parse is kept as
// a note.
func ParseDiff(src string) Diff {
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
	return r.Diff
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

// inHunk handles a line of a file.
func (r *diffReader) inHunk(s string) {
	switch {
	case strings.HasPrefix(s, "+"):
		r.add(diffLine{kind: diffAdd, text: s[1:], now: r.now})
		r.Added, r.now, r.nowLeft = r.Added+1, r.now+1, r.nowLeft-1
	case strings.HasPrefix(s, "-"):
		r.add(diffLine{kind: diffDel, text: s[1:], old: r.old})
		r.Removed, r.old, r.oldLeft = r.Removed+1, r.old+1, r.oldLeft-1
	case strings.HasPrefix(s, "\\"):
		r.add(diffLine{kind: diffNote, text: strings.TrimSpace(s[1:])})
	default:
		r.add(diffLine{kind: diffSame, text: strings.TrimPrefix(s, " "), old: r.old, now: r.now})
		r.old, r.now, r.oldLeft, r.nowLeft = r.old+1, r.now+1, r.oldLeft-1, r.nowLeft-1
	}
}

// between handles a line outside of any file: headers, hunks, notes.
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
		r.Files++
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

// hunk parses "@@ -3,7 +3,8 @@": first line and number of lines on both sides.
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

// pairLines finds, in each run of removed lines followed by added ones, which lines belong together, and what
// differs in them.
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

// pairRun pairs the removed lines from dels with the added ones from adds up to end, in order, by how much
// they have in common.
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
		a.words, b.words = seen(a.text, a.words), seen(b.text, b.words)
		next = at + 1
	}
	if adds-dels == 1 && end-adds == 1 { // one line for one, however unlike: they stand beside each other
		lines[dels].partner, lines[adds].partner = adds, dels
	}
}

// seen leaves out the parts that are blank: a line that only moved to the right has no word that differs.
func seen(line string, words []diff.Span) []diff.Span {
	return slices.DeleteFunc(words, func(w diff.Span) bool { return strings.TrimSpace(line[w.Start:w.End]) == "" })
}

// similar returns the percentage of the longer line that both lines share at the beginning and the end.
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
