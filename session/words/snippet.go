package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"jcode/internal/ranking"
	"jcode/internal/text"
)

// snippetBytes is about how many bytes of a text a hit shows; a third of them precede the
// word.
const snippetBytes = 160

// Set recognises the words of a query in a text as the index does: it ignores case and
// accents, and the last word may be a prefix.
type Set struct {
	whole map[string]bool
	begun string
	stems map[string]bool // words that have one of them count, too; nil for none
}

// Of returns the words of a query.
func Of(query string) Set {
	w := Set{whole: map[string]bool{}}
	last := ""
	eachWord(query, func(word string, _, end int) bool {
		last = ""
		if end == len(query) {
			last = word
		}
		w.whole[word] = true
		return true
	})
	w.begun = last
	return w
}

// WithStems is the set of the words that have one of some stems.
func WithStems(stems []string) Set {
	w := Set{whole: map[string]bool{}, stems: map[string]bool{}}
	for _, stem := range stems {
		w.stems[stem] = true
	}
	return w
}

func (w Set) has(word string) bool {
	return w.whole[word] || w.begun != "" && strings.HasPrefix(word, w.begun) || w.stems[ranking.Stem(word)]
}

// Snippet returns one line of the text around the first word of the set, and where the words
// are in it.
func (w Set) Snippet(doc string) (line string, marks [][2]int) {
	doc = text.Clean(text.Cut(doc, maxIndexed))
	first := 0
	eachWord(doc, func(word string, start, _ int) bool {
		if w.has(word) {
			first = start
			return false
		}
		return true
	})
	head := text.CutTail(doc[:first], snippetBytes/3)
	from := first - len(head)
	tail := text.Cut(doc[from:], snippetBytes)
	line = strings.Join(strings.Fields(tail), " ")
	if from > 0 {
		line = "…" + line
	}
	if from+len(tail) < len(doc) {
		line += "…"
	}
	eachWord(line, func(word string, start, end int) bool {
		if w.has(word) {
			marks = append(marks, [2]int{start, end})
		}
		return true
	})
	return line, marks
}

// eachWord calls fn for the words of a text, folded, with their byte ranges, until fn
// returns false.
func eachWord(s string, fn func(word string, start, end int) bool) {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !Searchable(r) {
			i += size
			continue
		}
		end := i + size
		for !wordless(r) && end < len(s) {
			next, n := utf8.DecodeRuneInString(s[end:])
			if wordless(next) || !Searchable(next) && !unicode.Is(unicode.Mn, next) {
				break
			}
			end += n
		}
		if !fn(foldWord(s[i:end]), i, end) {
			return
		}
		i = end
	}
}

// foldWord removes case and accents.
func foldWord(word string) string {
	ascii := true
	for i := range len(word) {
		ascii = ascii && word[i] < utf8.RuneSelf
	}
	if ascii {
		return strings.ToLower(word)
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(word))
}
