package edit

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// looseness is what is ignored to locate an old string. Line endings, and whether the last line
// has one, are always ignored.
type looseness struct {
	what     string
	unicode  bool // quotes, dashes and spaces are folded to ASCII
	trailing bool // spaces at the ends of lines are dropped
}

// loose locates an old string that does not occur byte for byte. The first looseness that finds
// anything decides: one place is replaced, several are an error.
func loose(content string, e Edit) (done Done, found bool, err error) {
	if !utf8.ValidString(e.Old) {
		return Done{}, false, nil // a part of a character locates nothing
	}
	for _, l := range []looseness{
		{what: "line endings"},
		{what: "the kind of quotes, dashes and spaces", unicode: true},
		{what: "spaces at line ends", unicode: true, trailing: true},
	} {
		if done, found, err := l.replace(content, e); found {
			return done, true, err
		}
	}
	return indented(content, e)
}

// piece is one character of a folded text, with the bytes that it was folded from.
type piece struct{ start, end int }

// replace locates e.Old with this looseness and replaces it by e.New, changing only what differs
// between the two.
func (l looseness) replace(content string, e Edit) (done Done, found bool, err error) {
	old, now := toLF(e.Old), toLF(e.New)
	wholeEnd := false
	if l.trailing && !strings.HasSuffix(old, "\n") {
		if cut := strings.TrimRight(old, " \t"); cut != old && cut != "" {
			old, now, wholeEnd = cut, strings.TrimRight(now, " \t"), true
		}
	}
	text := l.fold(content, true)
	needle := l.fold(old, false)
	if needle == "" {
		return Done{}, false, nil
	}
	at := occurrences(text, needle)
	if wholeEnd {
		at = slices.DeleteFunc(at, func(i int) bool { return !strings.HasPrefix(text[i+len(needle):], "\n") })
	}
	onlyEndings := !l.unicode && !l.trailing
	switch {
	case len(at) == 0:
		return Done{}, false, nil
	case len(at) > 1 && (!e.All || !onlyEndings):
		raw := make([]int, min(len(at), listed))
		for i, place := range l.places(content, true, at[:len(raw)], 1) {
			raw[i] = place[0].start
		}
		return Done{}, true, ambiguous(linesOf(content, raw), len(at), l.what)
	}
	at = apart(at, len(needle))
	mine := l.places(old, false, []int{0}, len(needle))[0]
	var b strings.Builder
	pos := 0
	ending := ""
	for _, place := range l.places(content, true, at, len(needle)) {
		b.WriteString(content[pos:place[0].start])
		text, note := put(content, place, mine, changes(old, now))
		b.WriteString(text)
		pos = place[len(place)-1].end
		if note != "" {
			ending = note
		}
		done.Places++
	}
	b.WriteString(content[pos:])
	done.Text = b.String()
	done.Notes = append(done.Notes, "found by ignoring "+l.what+"; what did not have to change was kept as it is in the file")
	if ending != "" {
		done.Notes = append(done.Notes, ending)
	}
	return done, true, nil
}

// put returns the text of a place of content after changes. mine are the characters of the place as
// the model wrote them, to which the changes refer.
func put(content string, place, mine []piece, changes []udiff.Edit) (out, note string) {
	end := place[len(place)-1].end
	ending := endingAt(content, place[0].start, end)
	var b strings.Builder
	pos := place[0].start
	p, q := 0, 0
	for _, c := range changes {
		p, q = within(mine, q, c.Start, c.End)
		from := end
		if p < len(place) {
			from = place[p].start
		}
		to := from
		if q > p {
			to = place[q-1].end
		}
		b.WriteString(content[pos:from])
		pos = to
		text, n := withEnding(c.New, ending)
		b.WriteString(text)
		if n != "" {
			note = n
		}
	}
	b.WriteString(content[pos:end])
	return b.String(), note
}

// changes returns the edits that lead from old to now: by character for short texts, by line
// for long ones and where characters can't be told apart.
func changes(old, now string) []udiff.Edit {
	if len(old)+len(now) <= 64<<10 && utf8.ValidString(old) && utf8.ValidString(now) {
		return udiff.Strings(old, now)
	}
	return udiff.Lines(old, now)
}

// within returns the pieces that are in old[start:end], as a range of indexes. None of them
// is before index p.
func within(pieces []piece, p, start, end int) (from, to int) {
	for p < len(pieces) && pieces[p].end <= start {
		p++
	}
	q := p
	for q < len(pieces) && pieces[q].end <= end {
		q++
	}
	return p, q
}

// apart removes the places that overlap an earlier one.
func apart(at []int, length int) []int {
	end := 0
	return slices.DeleteFunc(at, func(i int) bool {
		if i < end {
			return true
		}
		end = i + length
		return false
	})
}

// fold returns the folded form of s. A whole text gets a final line end if it lacks one.
func (l looseness) fold(s string, whole bool) string {
	var b strings.Builder
	b.Grow(len(s) + 1)
	l.each(s, whole, func(r rune, start, end int) bool {
		if r == utf8.RuneError && end-start == 1 {
			b.WriteByte(s[start])
		} else {
			b.WriteRune(r)
		}
		return true
	})
	return b.String()
}

// places returns, for ascending offsets in the folded s, the characters of the next length bytes,
// with the bytes of s that they represent.
func (l looseness) places(s string, whole bool, at []int, length int) [][]piece {
	out := make([][]piece, len(at))
	folded := 0
	first := 0 // place that is not complete
	l.each(s, whole, func(r rune, start, end int) bool {
		for first < len(at) && folded >= at[first]+length {
			first++
		}
		for i := first; i < len(at) && at[i] <= folded; i++ {
			out[i] = append(out[i], piece{start, end})
		}
		if r == utf8.RuneError && end-start == 1 {
			folded++
		} else {
			folded += utf8.RuneLen(r)
		}
		return first < len(at)
	})
	return out
}

// each calls yield for the folded characters of s. A line end includes the spaces before it if those
// are ignored.
func (l looseness) each(s string, whole bool, yield func(r rune, start, end int) bool) {
	for i := 0; i < len(s); {
		r, n := l.char(s[i:])
		if l.trailing && (r == ' ' || r == '\t') {
			j := i + n
			for j < len(s) {
				r, n := l.char(s[j:])
				if r != ' ' && r != '\t' {
					break
				}
				j += n
			}
			switch {
			case j < len(s):
				if r, n := l.char(s[j:]); r == '\n' {
					if !yield('\n', i, j+n) {
						return
					}
					i = j + n
					continue
				}
			case whole:
				yield('\n', i, j)
				return
			}
		}
		if !yield(r, i, i+n) {
			return
		}
		i += n
	}
	if whole && !strings.HasSuffix(s, "\n") {
		yield('\n', len(s), len(s))
	}
}

// char returns the folded first character of s and its length in s.
func (l looseness) char(s string) (rune, int) {
	if s[0] < utf8.RuneSelf {
		if s[0] == '\r' && len(s) > 1 && s[1] == '\n' {
			return '\n', 2
		}
		return rune(s[0]), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if l.unicode {
		r = foldRune(r)
	}
	return r, n
}

// Fold returns a text with typographic quotes, dashes and spaces in their ASCII form.
func Fold(s string) string { return strings.Map(foldRune, s) }

// foldRune returns the ASCII form of typographic quotes, dashes and spaces.
func foldRune(r rune) rune {
	switch {
	case r == 0x2018 || r == 0x2019 || r == 0x201a || r == 0x201b || r == 0x2032 || r == 0x02bc:
		return '\''
	case r == 0x201c || r == 0x201d || r == 0x201e || r == 0x201f || r == 0x2033 || r == 0x00ab || r == 0x00bb:
		return '"'
	case r >= 0x2010 && r <= 0x2015 || r == 0x2212 || r == 0xfe58 || r == 0xfe63 || r == 0xff0d:
		return '-'
	case r == 0x00a0 || r >= 0x2000 && r <= 0x200a || r == 0x202f || r == 0x205f || r == 0x3000:
		return ' '
	}
	return r
}
