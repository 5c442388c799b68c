package dialog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fuzzy reports whether the characters of query occur in text in order, ignoring case, and how well they
// match: higher is better. Both must be lower case already.
func Fuzzy(query, text string) (score int, ok bool) {
	if query == "" {
		return 0, true
	}
	if i := strings.Index(text, query); i >= 0 {
		score = 1000 - min(i, 200) - min(len(text), 300)
		if i == 0 || !wordRune(text[:i]) {
			score += 300
		}
		if base := strings.LastIndexByte(text, '/') + 1; i >= base {
			score += 200
		}
		return score, true
	}
	at, run := 0, 0
	for q := query; len(q) > 0; {
		r, n := utf8.DecodeRuneInString(q)
		q = q[n:]
		if r == ' ' {
			continue
		}
		i := strings.IndexRune(text[at:], r)
		if i < 0 {
			return 0, false
		}
		switch {
		case i == 0 && at > 0:
			run++
			score += 8 + run
		case at+i == 0 || !wordRune(text[:at+i]):
			score += 10
			run = 0
		default:
			score -= min(i, 5)
			run = 0
		}
		at += i + n
	}
	return score - min(len(text), 300)/10, true
}

// wordRune reports whether a text ends inside a word.
func wordRune(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}
