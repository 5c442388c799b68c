// Package words owns what counts as a word in a search of sessions and documents: how a text is prepared for the index,
// which terms a query becomes, and where its words are in what was found.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"jcode/internal/ranking"
	"jcode/internal/text"
)

// maxIndexed is how many bytes of one message are searchable, so that a pasted log of
// megabytes doesn't make its commit slow.
const maxIndexed = 64 << 10

// A query is cut to MaxQuery bytes and MaxTerms words, for text that is pasted into a search box.
const (
	MaxQuery = 1000
	MaxTerms = 16
)

// wordless reports whether a rune belongs to a script without spaces between words. Each such
// rune is indexed as a word, so that any part of a sentence is found.
func wordless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Indexed prepares text for the tokenizer. It removes terminal control sequences, which
// don't separate words on the screen.
func Indexed(s string) string { return Spaced(text.Clean(text.Cut(s, maxIndexed))) }

// Spaced puts spaces around each rune that is a word of its own.
func Spaced(s string) string {
	if strings.IndexFunc(s, wordless) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) * 4 / 3)
	for _, r := range s {
		if wordless(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Terms turns typed text into FTS5 terms without any syntax: each word is a quoted
// phrase, and the last one may be a prefix. It returns none if the text has no word.
func Terms(typed string) []string {
	var terms []string
	typed = text.Valid(text.Cut(typed, MaxQuery))
	open := false
	for word := range strings.FieldsSeq(typed) {
		if len(terms) == MaxTerms {
			return terms
		}
		if open = strings.ContainsFunc(word, Searchable); !open {
			continue
		}
		word = strings.Map(func(r rune) rune {
			if r == '"' || r == 0 {
				return ' '
			}
			return r
		}, word)
		terms = append(terms, `"`+strings.TrimSpace(Spaced(word))+`"`)
	}
	if last, _ := utf8.DecodeLastRuneInString(typed); open && !unicode.IsSpace(last) {
		terms[len(terms)-1] += "*"
	}
	return terms
}

// Searchable reports whether the tokenizer takes a rune as part of a word.
func Searchable(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// OnlyLetter reports whether the text is one letter of a script with words. As a prefix it
// would match too many.
func OnlyLetter(s string) bool {
	s = strings.TrimSpace(s)
	r, size := utf8.DecodeRuneInString(s)
	return size == len(s) && !wordless(r)
}

// Beginning returns the part of a word that its other forms have in common.
func Beginning(word string) string {
	stem := ranking.Stem(word)
	n := 0
	for n < min(len(stem), len(word)) && stem[n] == word[n] {
		n++
	}
	if n < 4 {
		return word
	}
	return word[:n]
}

// Prefixed returns the mark of a term that may be followed by an ending: not for short words, which begin many others.
func Prefixed(begin, word string) string {
	if len(begin) < 4 || len(word) < 5 {
		return ""
	}
	return "*"
}
