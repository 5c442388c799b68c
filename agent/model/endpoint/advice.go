package endpoint

import (
	"slices"
	"strings"
)

// Refused returns what a refusal refuses, in lower case: the field that it names, its code, and its words without
// advice. "X is not supported. Use Y instead." refuses X, and says nothing against Y.
func (f Fault) Refused() string {
	return strings.ToLower(f.param + "\n" + f.code + "\n" + withoutAdvice(f.message))
}

// names reports whether a refusal says by its own field which part of a request it is about, and that this is
// one of the given ones.
func (f Fault) names(fields []string) bool {
	return f.param != "" && slices.Contains(fields, strings.ToLower(f.param))
}

// withoutAdvice removes from a refusal what it recommends or lists as allowed.
func withoutAdvice(message string) string {
	var kept []string
	for _, sentence := range sentences(message) {
		lower := strings.ToLower(strings.TrimLeft(sentence, " \t\r\n-*>•(\"'`"))
		if slices.ContainsFunc(adviceBegins(), func(w string) bool { return strings.HasPrefix(lower, w) }) {
			continue
		}
		lower = strings.ToLower(sentence)
		end := len(sentence)
		for _, w := range adviceWithin() {
			if i := strings.Index(lower, w); i >= 0 {
				end = min(end, i)
			}
		}
		kept = append(kept, sentence[:min(end, len(sentence))])
	}
	return strings.Join(kept, "\n")
}

// adviceBegins returns how a sentence of advice begins.
func adviceBegins() []string {
	return []string{
		"use ", "please ", "try ", "consider ", "instead", "did you mean", "see ", "refer to ", "for more", "for details", "to use ", "to enable ", "to fix ",
		"to control ", "you can ", "you may ", "you should ", "switch to ", "set ", "we recommend", "we suggest", "upgrade ", "learn more", "read more", "supported values",
		"supported levels", "supported parameters", "supported types", "allowed values", "valid values", "valid options", "available ", "expected one of", "if you ", "hint:", "note that ",
	}
}

// adviceWithin returns how advice begins within a sentence.
func adviceWithin() []string {
	return []string{
		", use ", "; use ", "(use ", "- use ", "– use ", "— use ", ": use ", ", please ", "; please ", "(please ", ", try ", "; try ", "(try ", ", consider ", "; consider ",
		", did you mean", "; did you mean", "(did you mean", ", switch to ", "; set ", ", set ", "(see ", ", see ", "; see ", "supported values are", "supported values:", "supported levels:",
		"must be one of", "should be one of", "expected one of", "input should be ", "should be ", "allowed values",
	}
}

// sentences divides a message at the ends of sentences and lines. A full stop within a name, as in tools.0.name,
// ends nothing.
func sentences(s string) (out []string) {
	start := 0
	for i := 0; i < len(s); i++ {
		ends := s[i] == '\n' || strings.IndexByte(".!?;", s[i]) >= 0 && i+1 < len(s) && strings.IndexByte(" \t\r\n", s[i+1]) >= 0
		if ends {
			out = append(out, s[start:i+1])
			start = i + 1
		}
	}
	return append(out, s[start:])
}
