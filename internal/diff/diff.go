// Package diff owns comparing two versions of a text: the unified diff that a model and a
// person read, its line counts, and the words that differ between two lines.
//
// It must not know where the texts come from.
package diff

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"jcode/internal/text"
)

const (
	context = 3
	// maxCompare limits the part that is compared line by line, in bytes of both sides; a larger
	// one is shown as replaced in one piece.
	maxCompare = 4 << 20
	// maxText bounds a diff's text in bytes.
	maxText = 256 << 10
	// maxWords bounds the lines whose words are compared, in bytes.
	maxWords = 4 << 10
)

// Diff is what changed between two texts.
type Diff struct {
	// Text is a unified diff with three lines of context, empty if nothing changed. A diff of more
	// than 256 KiB is cut at a line, and a last line that begins with `\ ` says so.
	Text string
	// Added and Removed count lines, including those that Text leaves out.
	Added, Removed int
}

// Files compares two versions of the named file. A nil version does not exist.
func Files(name string, before, after *string) Diff {
	from, to := "a/"+name, "b/"+name
	var old, now string
	if before == nil {
		from = "/dev/null"
	} else {
		old = *before
	}
	if after == nil {
		to = "/dev/null"
	} else {
		now = *after
	}
	if old == now {
		return Diff{}
	}
	head, oldMid, nowMid, tail := trim(old, now)
	w := writer{limit: maxText}
	w.line("--- ", from+"\n")
	w.line("+++ ", to+"\n")
	w.hunks(head, oldMid, nowMid, tail)
	return Diff{Text: w.text(), Added: w.added, Removed: w.removed}
}

// trim removes the lines that both texts begin and end with.
func trim(old, now string) (head, oldMid, nowMid, tail string) {
	n := 0
	for limit := min(len(old), len(now)); n < limit && old[n] == now[n]; n++ {
	}
	n = strings.LastIndexByte(old[:n], '\n') + 1
	head, old, now = old[:n], old[n:], now[n:]
	k := 0
	for limit := min(len(old), len(now)); k < limit && old[len(old)-1-k] == now[len(now)-1-k]; k++ {
	}
	// The tail begins at a line start of both.
	cut := old[len(old)-k:]
	if k < len(old) || k < len(now) {
		if !atLineStart(old, k) || !atLineStart(now, k) {
			if i := strings.IndexByte(cut, '\n'); i >= 0 {
				cut = cut[i+1:]
			} else {
				cut = ""
			}
		}
	}
	return head, old[:len(old)-len(cut)], now[:len(now)-len(cut)], cut
}

// atLineStart reports whether the last k bytes of s begin a line.
func atLineStart(s string, k int) bool { return k == len(s) || s[len(s)-k-1] == '\n' }

// hunks writes the difference of old and now, which follow head and precede tail.
func (w *writer) hunks(head, old, now, tail string) {
	before, beforeLines := lastLines(head, context)
	after := firstLines(tail, context)
	first := beforeLines + 1 // line number of the first line of `before`
	if len(old)+len(now) > maxCompare {
		w.replaced(first, before, old, now, after)
		return
	}
	a, b := before+old+after, before+now+after
	u, err := udiff.ToUnifiedDiff("", "", a, udiff.Lines(a, b), context)
	if err != nil { // the edits come from the same texts, so they fit
		w.replaced(first, before, old, now, after)
		return
	}
	for _, h := range u.Hunks {
		var oldCount, nowCount int
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Delete:
				oldCount++
			case udiff.Insert:
				nowCount++
			default:
				oldCount++
				nowCount++
			}
		}
		w.header(h.FromLine+first-1, oldCount, h.ToLine+first-1, nowCount)
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Delete:
				w.remove(l.Content)
			case udiff.Insert:
				w.add(l.Content)
			default:
				w.line(" ", l.Content)
			}
		}
	}
}

// replaced writes one hunk that replaces old by now.
func (w *writer) replaced(first int, before, old, now, after string) {
	around := count(before) + count(after)
	w.header(first, count(old)+around, first, count(now)+around)
	for l := range strings.Lines(before) {
		w.line(" ", l)
	}
	for l := range strings.Lines(old) {
		w.remove(l)
	}
	for l := range strings.Lines(now) {
		w.add(l)
	}
	for l := range strings.Lines(after) {
		w.line(" ", l)
	}
}

func count(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// lastLines returns the last n lines of s and the number of lines before them.
func lastLines(s string, n int) (last string, before int) {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		i = strings.LastIndexByte(s[:i-1], '\n') + 1
	}
	return s[i:], strings.Count(s[:i], "\n")
}

// firstLines returns the first n lines of s.
func firstLines(s string, n int) string {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		next := strings.IndexByte(s[i:], '\n')
		if next < 0 {
			return s
		}
		i += next + 1
	}
	return s[:i]
}

// writer collects a unified diff up to a limit of bytes.
type writer struct {
	b              strings.Builder
	limit          int
	left           int // lines left out
	added, removed int
}

func (w *writer) header(from, fromCount, to, toCount int) {
	span := func(start, n int) string {
		switch n {
		case 1:
			return fmt.Sprint(start)
		case 0:
			start--
		}
		return fmt.Sprintf("%d,%d", start, n)
	}
	w.line("@@ -"+span(from, fromCount)+" +"+span(to, toCount)+" @@", "\n")
}

func (w *writer) remove(line string) { w.removed++; w.line("-", line) }
func (w *writer) add(line string)    { w.added++; w.line("+", line) }

func (w *writer) line(mark, content string) {
	if w.left > 0 || w.b.Len()+len(mark)+len(content) > w.limit {
		w.left++
		return
	}
	w.b.WriteString(mark)
	w.b.WriteString(content)
	if !strings.HasSuffix(content, "\n") {
		w.b.WriteString("\n\\ No newline at end of file\n")
	}
}

func (w *writer) text() string {
	if w.left > 0 {
		fmt.Fprintf(&w.b, "\\ %d more lines of this diff are not shown\n", w.left)
	}
	return text.Valid(w.b.String())
}

// Span is a range of bytes, end exclusive.
type Span struct{ Start, End int }

// Words returns the parts of two lines, without their line breaks, that differ, widened to whole
// words. It returns none for lines that have hardly anything in common, or are long.
func Words(old, now string) (inOld, inNow []Span) {
	if old == now || len(old)+len(now) > maxWords || strings.Contains(old+now, "\n") || !utf8.ValidString(old) || !utf8.ValidString(now) {
		return nil, nil
	}
	a, b := words(old), words(now)
	// The words are compared as lines, one word per line.
	edits := udiff.Lines(asLines(a), asLines(b))
	offsets := starts(a)
	kept := len(old)
	ai, bi, aPos, bPos := 0, 0, 0, 0
	for _, e := range edits {
		for ai < len(a) && offsets[ai] < e.Start { // equal words
			aPos += len(a[ai])
			bPos += len(b[bi])
			ai++
			bi++
		}
		start := aPos
		for ai < len(a) && offsets[ai] < e.End {
			aPos += len(a[ai])
			ai++
		}
		if aPos > start {
			inOld = append(inOld, Span{start, aPos})
			kept -= aPos - start
		}
		start = bPos
		for range strings.Count(e.New, "\n") {
			bPos += len(b[bi])
			bi++
		}
		if bPos > start {
			inNow = append(inNow, Span{start, bPos})
		}
	}
	if kept*4 < len(old) {
		return nil, nil
	}
	return inOld, inNow
}

// words cuts a line into words, runs of spaces and single other characters.
func words(s string) []string {
	var out []string
	for s != "" {
		n := 0
		kind := -1
		for i, r := range s {
			k := wordKind(r)
			if i > 0 && (k != kind || k == 2) {
				break
			}
			kind = k
			n = i + utf8.RuneLen(r)
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

func wordKind(r rune) int {
	switch {
	case r == ' ' || r == '\t' || r == '\r' || r == '\n':
		return 0
	case r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf:
		return 1
	}
	return 2
}

// asLines writes one word per line.
func asLines(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w)
		b.WriteByte('\n')
	}
	return b.String()
}

// starts returns the offset of each word in asLines.
func starts(words []string) []int {
	out := make([]int, len(words))
	at := 0
	for i, w := range words {
		out[i] = at
		at += len(w) + 1
	}
	return out
}
