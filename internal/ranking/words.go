package ranking

import (
	"strings"
	"unicode"
)

// common are words that occur in every text and tell nothing about it.
const common = ` a about after all also an and any are as at be because been but by can could did do does for from get gets had has have how i if in into is it its just like me my no not of on one or our out over should so some such than that the their them then there these they this those to up us use used want was we were what when where which while who why will with would you your `

// Common reports whether a word in small letters tells nothing about a text.
func Common(word string) bool { return strings.Contains(common, " "+word+" ") }

// maxWord bounds a word, in bytes: what is longer is no word.
const maxWord = 64

// Each calls fn for the words of a text in small letters. Of an identifier, such as maxIdleConns or read_file, fn is called for the
// whole, without its hyphens and underscores, and for its parts. Of scripts without spaces between words, each
// character is a word.
func Each(s string, fn func(word string)) {
	start := -1
	for i, r := range s {
		switch inside := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r); {
		case inside && wordless(r):
			if start >= 0 {
				parts(s[start:i], fn)
				start = -1
			}
			fn(string(r))
		case inside:
			if start < 0 {
				start = i
			}
		case (r == '_' || r == '-') && start >= 0:
		case start >= 0:
			parts(s[start:i], fn)
			start = -1
		}
	}
	if start >= 0 {
		parts(s[start:], fn)
	}
}

// parts calls fn for an identifier and its parts.
func parts(id string, fn func(string)) {
	id = strings.Trim(id, "_-")
	if id == "" || len(id) > maxWord {
		return
	}
	if plain(id) {
		fn(strings.ToLower(id))
		return
	}
	whole := strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return r
	}, id))
	fn(whole)
	start := 0
	runes := []rune(id)
	part := func(end int) {
		if end > start && !(start == 0 && end == len(runes)) {
			if p := strings.ToLower(string(runes[start:end])); p != whole {
				fn(p)
			}
		}
	}
	for i, r := range runes {
		switch {
		case r == '_' || r == '-':
			part(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1])):
			part(i) // maxIdle
			start = i
		case i > start+1 && unicode.IsLower(r) && unicode.IsUpper(runes[i-1]) && unicode.IsUpper(runes[i-2]):
			part(i - 1) // HTTPServer
			start = i - 1
		}
	}
	part(len(runes))
}

// plain reports whether an identifier is one word, by its first look: most are.
func plain(id string) bool {
	for i := range len(id) {
		if c := id[i]; c >= 0x80 || c == '_' || c == '-' || i > 0 && 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// wordless reports whether a rune belongs to a script without spaces between words.
func wordless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Stem removes the usual endings of an English word in small letters, so that forms of a word are equal. It leaves
// words of other scripts as they are.
func Stem(w string) string {
	if len(w) < 4 || w[0] > 'z' {
		return w
	}
	for _, e := range []struct{ end, with string }{
		{"ational", "ate"},
		{"ization", "ize"},
		{"isation", "ize"},
		{"fulness", "ful"},
		{"iveness", "ive"},
		{"ousness", "ous"},
		{"ations", "ate"},
		{"ation", "ate"},
		{"ements", ""},
		{"ement", ""},
		{"ments", ""},
		{"ment", ""},
		{"ities", ""},
		{"ity", ""},
		{"ings", ""},
		{"ing", ""},
		{"ions", ""},
		{"ion", ""},
		{"ers", ""},
		{"er", ""},
		{"ies", "y"},
		{"ied", "y"},
		{"ed", ""},
		{"ly", ""},
		{"es", ""},
		{"s", ""},
	} {
		base, ok := strings.CutSuffix(w, e.end)
		if !ok || len(base) < 3 || e.end == "s" && strings.HasSuffix(base, "s") {
			continue
		}
		w = base + e.with
		break
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("lsz", rune(w[n-1])) {
		w = w[:n-1] // running → run
	}
	if n := len(w); n > 3 && w[n-1] == 'e' {
		w = w[:n-1]
	}
	if n := len(w); n > 3 && w[n-1] == 'y' {
		w = w[:n-1] + "i"
	}
	return w
}

// Terms returns the stems of a text's words that tell something about it, in order, as often as they occur. If all
// its words are common, it returns those.
func Terms(s string) []string {
	var out, all []string
	Each(s, func(word string) {
		stem := Stem(word)
		all = append(all, stem)
		if !Common(word) {
			out = append(out, stem)
		}
	})
	if out == nil {
		return all
	}
	return out
}
