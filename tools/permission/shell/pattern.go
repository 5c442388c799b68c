package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Pattern is the compiled pattern of an exec rule: the words of one simple command, in which an unquoted *
// matches anything, or a whole line that must be exactly equal.
type Pattern struct {
	line  string // the pattern as written
	words []patternWord
	Whole bool // it is not a simple command of known words
}

// patternWord is one word of a pattern. A run matches any number of words, including none.
type patternWord struct {
	run bool
	// parts are the texts between wildcards; a single part is a word without wildcards.
	parts []string
}

// Compile parses a pattern. What is not a simple command of known words is taken as a whole line.
func Compile(src string) (*Pattern, error) {
	whole := &Pattern{line: src, Whole: true}
	if unreadable(src) != "" {
		return whole, nil
	}
	file, err := parse(src, syntax.LangBash)
	if err != nil || len(file.Stmts) != 1 {
		return whole, nil
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(s.Redirs) > 0 || s.Background || s.Negated || s.Coprocess || s.Disown || len(call.Assigns) > 0 {
		return whole, nil
	}
	out := &Pattern{line: src}
	for _, w := range call.Args {
		if readWord(w).dynamic {
			return whole, nil
		}
		out.words = append(out.words, readPattern(w))
	}
	return out, nil
}

func readPattern(w *syntax.Word) patternWord {
	parts := []string{""}
	add := func(s string) { parts[len(parts)-1] += s }
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			add(readWord(&syntax.Word{Parts: []syntax.WordPart{part}}).text)
			continue
		}
		for i := 0; i < len(lit.Value); i++ {
			switch c := lit.Value[i]; {
			case c == '\\' && i+1 < len(lit.Value):
				i++
				add(lit.Value[i : i+1])
			case c == '*':
				parts = append(parts, "")
			default:
				add(string(lit.Value[i : i+1]))
			}
		}
	}
	run := len(parts) == 2 && parts[0] == "" && parts[1] == ""
	return patternWord{run: run, parts: parts}
}

// Literal reports whether the pattern has no wildcards.
func (p *Pattern) Literal() bool {
	for _, w := range p.words {
		if len(w.parts) > 1 {
			return false
		}
	}
	return true
}

// Vouches reports whether the pattern, as an allow rule, covers a simple command.
func (p *Pattern) Vouches(c Command) bool {
	if p.Whole || c.form != complete || c.Doubt != "" && !(c.Wrapper && p.Literal()) {
		return false
	}
	return matchWords(p.words, c.words, false)
}

// VouchesLine reports whether the pattern is exactly this line.
func (p *Pattern) VouchesLine(text string) bool {
	return p.line == text && (p.Whole || p.Literal())
}

// MayMean reports whether a simple command could be one that the pattern names, as a deny or ask rule: with
// flags between its words, behind a wrapper, under the program's path, or once its unknown words are known.
// sure says that it is, whatever those become.
func (p *Pattern) MayMean(c Command) (may, sure bool) {
	if p.Whole || len(c.words) == 0 {
		return false, false
	}
	forms := [][]word{c.words}
	if name, known := program(c.words[0]); known && name != c.words[0].text || strings.Contains(c.words[0].text, "/") {
		forms = append(forms, append([]word{static(base(c.words[0].text))}, c.words[1:]...))
	}
	if rest, ok := strings.CutPrefix(base(c.words[0].text), "git-"); ok {
		forms = append(forms, append([]word{static("git"), static(rest)}, c.words[1:]...))
	}
	if c.Wrapper || runs(c.words) {
		forms = append(forms, suffixes(c.words)...)
	}
	forms = append(forms, c.later...)
	for _, words := range forms {
		if !matchWords(p.words, words, true) {
			continue
		}
		may = true
		if !hasDynamic(words) {
			return true, true
		}
	}
	return may, false
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func hasDynamic(words []word) bool {
	for _, w := range words {
		if w.dynamic || w.glob {
			return true
		}
	}
	return false
}

// maxSteps bounds one comparison; beyond it a deny rule is taken to match.
const maxSteps = 20_000

// matchWords compares a pattern with words. generous is for rules that restrict: flags that the pattern
// doesn't name are skipped, with or without a value; flags that it names may occur anywhere; words that are
// not known yet may be anything, or nothing.
func matchWords(pattern []patternWord, words []word, generous bool) bool {
	steps := 0
	var match func(p []patternWord, w []word, first bool) bool
	match = func(p []patternWord, w []word, first bool) bool {
		if steps++; steps > maxSteps {
			return generous
		}
		if len(p) == 0 {
			if len(w) == 0 {
				return true
			}
			// Only words that may be skipped may remain.
			return generous && skippable(w, first, func(rest []word) bool { return match(p, rest, false) })
		}
		if p[0].run {
			for i := 0; i <= len(w); i++ {
				if match(p[1:], w[i:], false) {
					return true
				}
			}
			return false
		}
		if generous && isFlag(p[0]) {
			for i := range w {
				if p[0].fits(w[i].text) && match(p[1:], without(w, i), false) {
					return true
				}
			}
		}
		if len(w) == 0 {
			return false
		}
		if p[0].fits(w[0].text) && !w[0].dynamic && match(p[1:], w[1:], false) {
			return true
		}
		if !generous {
			return false
		}
		if w[0].dynamic {
			// It may be this word, several of the pattern's, or none.
			for i := 0; i <= len(p); i++ {
				if match(p[i:], w[1:], false) {
					return true
				}
			}
		}
		return skippable(w, first, func(rest []word) bool { return match(p, rest, false) })
	}
	return match(pattern, words, true)
}

// skippable tries what follows when a flag is skipped, with and without its value.
func skippable(w []word, first bool, next func([]word) bool) bool {
	if first || len(w) == 0 {
		return false
	}
	if w[0].dynamic {
		return next(w[1:])
	}
	if !strings.HasPrefix(w[0].text, "-") && !strings.HasPrefix(w[0].text, "+") {
		return false
	}
	return next(w[1:]) || len(w) > 1 && next(w[2:])
}

func without(w []word, i int) []word {
	out := make([]word, 0, len(w)-1)
	return append(append(out, w[:i]...), w[i+1:]...)
}

func isFlag(p patternWord) bool { return len(p.parts[0]) > 1 && p.parts[0][0] == '-' }

// fits compares one word with the pattern's.
func (p patternWord) fits(s string) bool {
	if len(p.parts) == 1 {
		return s == p.parts[0]
	}
	rest, ok := strings.CutPrefix(s, p.parts[0])
	if !ok {
		return false
	}
	for _, part := range p.parts[1 : len(p.parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, p.parts[len(p.parts)-1])
}

// MatchText matches a whole text with a pattern in which * matches anything and \* a star.
func MatchText(pattern, s string) bool {
	parts := []string{""}
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern) && (pattern[i+1] == '*' || pattern[i+1] == '\\'):
			i++
			parts[len(parts)-1] += pattern[i : i+1]
		case pattern[i] == '*':
			parts = append(parts, "")
		default:
			parts[len(parts)-1] += pattern[i : i+1]
		}
	}
	return patternWord{parts: parts}.fits(s)
}
