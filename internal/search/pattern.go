package search

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Pattern finds lines. It is safe for concurrent use.
type Pattern struct {
	literal finder         // the whole pattern, if it is a literal
	re      *regexp.Regexp // otherwise
	prog    *syntax.Prog   // of re
	need    *finders       // literals of which a matching line contains one; nil if none is known
	wide    bool           // it has characters that encodings write differently
}

// Compile compiles an RE2 pattern, or a literal. An error says why the pattern is invalid, in the words of
// its parser.
func Compile(pattern string, literal bool) (*Pattern, error) {
	if strings.Contains(pattern, "\n") {
		return nil, fmt.Errorf("the pattern has a line break, and lines are searched one by one")
	}
	if pattern == "" {
		return nil, fmt.Errorf("the pattern is empty")
	}
	if literal || regexp.QuoteMeta(pattern) == pattern {
		return &Pattern{literal: newFinder(pattern, false), wide: isWide(pattern)}, nil
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	simple := tree.Simplify()
	prog, err := syntax.Compile(simple)
	if err != nil {
		return nil, err
	}
	return &Pattern{re: re, prog: prog, need: required(simple), wide: isWide(pattern)}, nil
}

// isWide reports whether a pattern means characters beyond ASCII, also by an escape.
func isWide(pattern string) bool {
	return strings.ContainsFunc(pattern, func(r rune) bool { return r >= utf8.RuneSelf }) || strings.Contains(pattern, `\x`) || strings.Contains(pattern, `\p`) || strings.Contains(pattern, `\P`)
}

// finder searches for one literal by its rarest byte.
type finder struct {
	text []byte // lower case if fold
	fold bool   // ASCII letters match in both cases
	rare int    // index of the rarest byte
	a, b byte   // that byte, in both cases if fold
}

func newFinder(text string, fold bool) finder {
	f := finder{text: []byte(text), fold: fold}
	if fold {
		f.text = bytes.ToLower(f.text)
	}
	f.choose(commonness)
	return f
}

// choose picks the byte that is least common by a measure.
func (f *finder) choose(common func(c byte) int) {
	least := -1
	for i, c := range f.text {
		other := f.other(c)
		n := common(c)
		if other != c {
			n += common(other)
		}
		if least < 0 || n < least {
			least, f.rare, f.a, f.b = n, i, c, other
		}
	}
}

// other returns the byte that matches as c does: its upper case if case is ignored.
func (f *finder) other(c byte) byte {
	if f.fold && c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// byCommonness lists bytes by how common they are in source text, the most common first.
const byCommonness = " etaoinsrlc\tdpum\nfgh.,_b(){}y\"x=-/w0v:1;k'>*&<2[]3TSIECANRPDLOFM4U5+6B8G9z7|!H\\j#VqWX@YK%$?J^Q`Z~"

// commonness is higher for bytes that are more common.
func commonness(c byte) int {
	i := strings.IndexByte(byCommonness, c)
	if i < 0 {
		return 0
	}
	return len(byCommonness) - i
}

// index returns the first position of the literal in s, or -1.
func (f *finder) index(s []byte) int {
	if f.fold {
		return f.indexFold(s)
	}
	if len(f.text) == 1 {
		return bytes.IndexByte(s, f.a)
	}
	// Search for the rarest byte; if it occurs too often, the standard search is better.
	tries := 0
	for i := 0; ; {
		if i+len(f.text) > len(s) {
			return -1
		}
		n := bytes.IndexByte(s[i+f.rare:len(s)-len(f.text)+f.rare+1], f.a)
		if n < 0 {
			return -1
		}
		i += n
		if bytes.Equal(s[i:i+len(f.text)], f.text) {
			return i
		}
		i++
		if tries++; tries > 16 && tries > i/64 {
			n := bytes.Index(s[i:], f.text)
			if n < 0 {
				return -1
			}
			return i + n
		}
	}
}

func (f *finder) indexFold(s []byte) int {
	last := len(s) - len(f.text)
	nextA, nextB := -1, -1
	for i := 0; i <= last; {
		window := s[i+f.rare : last+f.rare+1]
		if nextA < i {
			nextA = indexFrom(window, f.a, i)
		}
		if nextB < i {
			nextB = nextA
			if f.b != f.a {
				nextB = indexFrom(window, f.b, i)
			}
		}
		i = min(nextA, nextB)
		if i > last {
			return -1
		}
		if equalFold(s[i:i+len(f.text)], f.text) {
			return i
		}
		i++
	}
	return -1
}

// indexFrom returns base plus the position of c in s, or a number beyond any.
func indexFrom(s []byte, c byte, base int) int {
	if n := bytes.IndexByte(s, c); n >= 0 {
		return base + n
	}
	return math.MaxInt
}

// equalFold compares s with lower-case ASCII text.
func equalFold(s, lower []byte) bool {
	for i, c := range lower {
		have := s[i]
		if have >= 'A' && have <= 'Z' {
			have += 'a' - 'A'
		}
		if have != c {
			return false
		}
	}
	return true
}

// finders are literals of which one must occur.
type finders struct {
	list     []finder
	shortest int // bytes of the shortest
	// kelvin says that a literal contains a folded k or s, which also match U+212A and U+017F: a text that
	// contains those is not filtered.
	kelvin bool
}

// need is a set of literals of which a match contains one.
type need struct {
	texts []string
	fold  bool
}

// worth rates how well a set filters: the shortest literal decides, and many literals cost.
func (n need) worth() int {
	if len(n.texts) == 0 {
		return -1
	}
	w := 4 * n.shortest()
	if n.fold {
		w--
	}
	return w - len(n.texts)/4
}

// shortest returns the length of the shortest literal.
func (n need) shortest() int {
	return len(slices.MinFunc(n.texts, func(a, b string) int { return len(a) - len(b) }))
}

const maxNeeds = 16

// required derives finders from a parsed pattern; nil if nothing useful is required.
func required(re *syntax.Regexp) *finders {
	n := needs(re)
	if n.worth() < 0 {
		return nil
	}
	f := &finders{shortest: n.shortest()}
	for _, t := range n.texts {
		f.list = append(f.list, newFinder(t, n.fold))
		f.kelvin = f.kelvin || n.fold && strings.ContainsAny(strings.ToLower(t), "ks")
	}
	return f
}

// needs finds the most useful set of literals of which every match of re contains one.
func needs(re *syntax.Regexp) need {
	switch op := re.Op; {
	case op == syntax.OpLiteral:
		return literalNeed(re)
	case op == syntax.OpCharClass:
		return classNeed(re)
	case op == syntax.OpCapture, op == syntax.OpPlus, op == syntax.OpRepeat && re.Min > 0:
		return needs(re.Sub[0])
	case op == syntax.OpConcat:
		return bestNeed(re.Sub)
	case op == syntax.OpAlternate:
		return anyNeed(re.Sub)
	}
	return need{}
}

// bestNeed returns the most useful of the needs of parts that must all match.
func bestNeed(parts []*syntax.Regexp) need {
	best := need{}
	for _, sub := range parts {
		if n := needs(sub); n.worth() > best.worth() {
			best = n
		}
	}
	return best
}

// anyNeed joins the needs of parts of which one must match.
func anyNeed(parts []*syntax.Regexp) need {
	all := need{}
	for i, sub := range parts {
		n := needs(sub)
		if n.worth() < 0 || len(all.texts)+len(n.texts) > maxNeeds {
			return need{}
		}
		if i > 0 && n.fold != all.fold {
			n.fold, all.fold = true, true // folding finds more, which is allowed
			if !ascii(n.texts) || !ascii(all.texts) {
				return need{}
			}
		}
		all.texts, all.fold = append(all.texts, n.texts...), n.fold
	}
	return all
}

// literalNeed returns the literal itself, or its longest ASCII part if it ignores case.
func literalNeed(re *syntax.Regexp) need {
	if re.Flags&syntax.FoldCase == 0 {
		return need{texts: []string{string(re.Rune)}}
	}
	best, run := "", ""
	for _, r := range re.Rune {
		if r < 0x80 {
			run += string(r)
		} else {
			run = ""
		}
		if len(run) > len(best) {
			best = run
		}
	}
	if best == "" {
		return need{}
	}
	return need{texts: []string{best}, fold: true}
}

// classNeed returns the members of a class of few characters.
func classNeed(re *syntax.Regexp) need {
	var out need
	for i := 0; i+1 < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if len(out.texts) == 3 {
				return need{}
			}
			out.texts = append(out.texts, string(r))
		}
	}
	return out
}

func ascii(texts []string) bool {
	beyond := func(r rune) bool { return r >= utf8.RuneSelf }
	return !slices.ContainsFunc(texts, func(t string) bool { return strings.ContainsFunc(t, beyond) })
}
