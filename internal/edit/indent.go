package edit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// indented locates whole lines whose indentation differs from the file's. Lines that the old and the
// new string share stay as they are in the file; the others get the file's indentation.
func indented(content string, e Edit) (done Done, found bool, err error) {
	old, now := toLF(e.Old), toLF(e.New)
	oldEnds := strings.HasSuffix(old, "\n")
	if !oldEnds {
		old += "\n"
		now += "\n"
	}
	join := oldEnds && now != "" && !strings.HasSuffix(now, "\n") // the literal result has no line end here
	if join {
		now += "\n"
	}
	oldLines := lines(old)
	file := lines(content)
	at := findLines(file, oldLines)
	switch {
	case len(at) == 0:
		return Done{}, false, nil
	case len(at) > 1:
		numbers := make([]int, len(at))
		for i, a := range at {
			numbers[i] = a + 1
		}
		return Done{}, true, ambiguous(numbers, len(at), "indentation")
	}
	place := file[at[0] : at[0]+len(oldLines)]
	shift, err := learn(oldLines, place)
	if err == nil {
		done, err = shift.put(file, at[0], place, old, now, join)
	}
	if err != nil {
		return Done{}, true, fmt.Errorf("old_string is found at line %d only by ignoring indentation, and %w. The file has:\n%s\ncopy its indentation exactly",
			at[0]+1, err, show(place, at[0]+1, nil))
	}
	return done, true, nil
}

// put applies the change from old to now to place, which begins at file[at].
func (s *shift) put(file []string, at int, place []string, old, now string, join bool) (Done, error) {
	ending := endingAt(strings.Join(file, ""), length(file[:at]), length(file[:at])+length(place))
	if ending == "" {
		ending = "\n"
	}
	_, lastEnd := body(place[len(place)-1])
	var out []string
	line := 0 // index into place
	pos := 0  // offset into old
	for _, c := range udiff.Lines(old, now) {
		for ; pos < c.Start; line++ {
			pos += strings.IndexByte(old[pos:], '\n') + 1
			out = append(out, place[line])
		}
		for ; pos < c.End; line++ {
			pos += strings.IndexByte(old[pos:], '\n') + 1
		}
		for _, l := range lines(c.New) {
			text, _ := body(l)
			if trimBlanks(text) == "" {
				out = append(out, ending)
				continue
			}
			indent, rest := cutIndent(text)
			indent, err := s.translate(indent)
			if err != nil {
				return Done{}, err
			}
			out = append(out, indent+rest+ending)
		}
	}
	out = append(out, place[line:]...)
	if n := len(out); n > 0 {
		text, _ := body(out[n-1])
		if out[n-1] = text + lastEnd; join {
			out[n-1] = text
		}
	}
	text := strings.Join(file[:at], "") + strings.Join(out, "") + strings.Join(file[at+len(place):], "")
	return Done{Text: text, Places: 1, Notes: []string{
		"found by ignoring indentation; the new lines are indented as the file is (" + s.style() + ")",
	}}, nil
}

// lines cuts s into lines with their endings.
func lines(s string) []string { return slices.Collect(strings.Lines(s)) }

// body separates a line from its ending.
func body(line string) (text, ending string) {
	text = strings.TrimSuffix(line, "\n")
	if len(text) < len(line) {
		text = strings.TrimSuffix(text, "\r")
	}
	return text, line[len(text):]
}

func length(lines []string) int {
	n := 0
	for _, l := range lines {
		n += len(l)
	}
	return n
}

// cutIndent separates a line from the spaces and tabs that it begins with.
func cutIndent(line string) (indent, rest string) {
	rest = strings.TrimLeft(line, " \t")
	return line[:len(line)-len(rest)], rest
}

// findLines returns the indexes at which want occurs in file, ignoring spaces at both ends of
// lines. Lines of spaces alone don't locate anything.
func findLines(file, want []string) []int {
	keys := make([]string, len(want))
	first := -1
	for i, l := range want {
		keys[i] = trimBlanks(l)
		if first < 0 && keys[i] != "" {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	var at []int
next:
	for i := first; i+len(want)-first <= len(file); i++ {
		if trimBlanks(file[i]) != keys[first] {
			continue
		}
		for k, key := range keys {
			if trimBlanks(file[i-first+k]) != key {
				continue next
			}
		}
		at = append(at, i-first)
	}
	return at
}

// shift maps the indentation of an old string to that of the file: known indents literally, others
// by a linear function that fits the known ones.
type shift struct {
	known       map[string]string
	from, to    byte // the character of either side; 0 if none is used
	mixed       bool // a side uses tabs and spaces: only known indents can be translated
	num, den, c int  // to = (from*num + c) / den
	ratio       bool // num and den are known
}

// learn derives a shift from lines that correspond.
func learn(old, file []string) (*shift, error) {
	s := &shift{known: map[string]string{}}
	type pair struct{ from, to int }
	var pairs []pair
	for i := range old {
		if trimBlanks(old[i]) == "" {
			continue
		}
		a, _ := cutIndent(old[i])
		b, _ := cutIndent(file[i])
		if have, ok := s.known[a]; ok {
			if have != b {
				return nil, fmt.Errorf("one indentation in old_string corresponds to several in the file")
			}
			continue
		}
		s.known[a] = b
		s.mixed = !uniform(a, &s.from) || !uniform(b, &s.to) || s.mixed
		pairs = append(pairs, pair{len(a), len(b)})
	}
	if s.mixed {
		return s, nil
	}
	p := pairs[0]
	switch {
	case len(pairs) > 1:
		q := pairs[1]
		s.num, s.den = q.to-p.to, q.from-p.from
	case s.from == s.to || s.to == 0 || s.from == 0 && p.from == 0 && p.to == 0:
		s.num, s.den = 1, 1
	case p.from > 0 && p.to > 0:
		s.num, s.den = p.to, p.from
	default:
		return s, nil
	}
	if s.den < 0 {
		s.num, s.den = -s.num, -s.den
	}
	s.c = p.to*s.den - p.from*s.num
	s.ratio = s.num > 0
	for _, q := range pairs {
		if q.from*s.num+s.c != q.to*s.den {
			s.ratio = false // not a linear function
		}
	}
	return s, nil
}

// uniform reports whether indent uses only one character, the one in c if that is set.
func uniform(indent string, c *byte) bool {
	for i := range len(indent) {
		if *c == 0 {
			*c = indent[i]
		}
		if indent[i] != *c {
			return false
		}
	}
	return true
}

func (s *shift) translate(indent string) (string, error) {
	if to, ok := s.known[indent]; ok {
		return to, nil
	}
	from := s.from
	n := len(indent)*s.num + s.c
	if !s.ratio || s.mixed || !uniform(indent, &from) || n < 0 || n%s.den != 0 {
		return "", fmt.Errorf("the indentation of new_string can't be carried over to the file's")
	}
	return strings.Repeat(string(cmp.Or(s.to, from)), n/s.den), nil
}

// style names the file's indentation.
func (s *shift) style() string {
	switch {
	case s.mixed:
		return "tabs and spaces"
	case s.to == '\t':
		return "tabs"
	case s.to == ' ':
		return "blanks"
	}
	return "none"
}

// trimBlanks removes spaces, tabs and line breaks at both ends. A form feed or a wide space is
// text.
func trimBlanks(line string) string { return strings.Trim(line, " \t\r\n") }
