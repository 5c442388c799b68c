package session

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxIndexed bounds what of one message is searchable, in bytes: a pasted log of megabytes
// must not make its commit slow.
const maxIndexed = 64 << 10

// index makes text findable under a rowid: a message's, or session << 24 for a title.
func (t *tx) index(rowid int64, text string) error {
	_, err := t.exec("INSERT OR REPLACE INTO search (rowid, body) VALUES (?, ?)", rowid, indexText(text))
	return err
}

func (t *tx) indexMessage(rowid int64, role, text string) error {
	if (role != RoleUser && role != RoleAssistant) || strings.TrimSpace(text) == "" {
		return nil
	}
	return t.index(rowid, text)
}

// wordless reports whether a rune belongs to a script that writes no blanks between words.
// Each such rune is a word of its own, so that any part of a sentence is found.
func wordless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// indexText prepares text for the tokenizer.
func indexText(text string) string {
	if len(text) > maxIndexed {
		text = text[:maxIndexed]
		for len(text) > 0 {
			r, size := utf8.DecodeLastRuneInString(text)
			if r != utf8.RuneError || size > 1 {
				break
			}
			text = text[:len(text)-1]
		}
	}
	return spaced(text)
}

func spaced(text string) string {
	if strings.IndexFunc(text, wordless) < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) * 4 / 3)
	for _, r := range text {
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

// matchQuery turns what a person typed into an FTS5 query in which nothing is syntax: each
// word is a quoted phrase, and the last may be begun only. It is empty when the text has
// no word.
func matchQuery(text string) string {
	var terms []string
	for word := range strings.FieldsSeq(strings.ToValidUTF8(text, " ")) {
		if !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			continue
		}
		word = strings.ReplaceAll(word, "\x00", " ")
		terms = append(terms, `"`+strings.ReplaceAll(strings.TrimSpace(spaced(word)), `"`, `""`)+`"`)
	}
	if len(terms) == 0 {
		return ""
	}
	if last, _ := utf8.DecodeLastRuneInString(text); !unicode.IsSpace(last) {
		terms[len(terms)-1] += "*"
	}
	return strings.Join(terms, " AND ")
}

// matchingSessions gives the internal keys of the sessions whose title or text has the
// words.
func (s *Store) matchingSessions(ctx context.Context, text string) (map[int64]bool, error) {
	hits := map[int64]bool{}
	note := func(scan func(...any) error) error {
		var n int64
		if err := scan(&n); err != nil {
			return err
		}
		hits[n] = true
		return nil
	}
	query := matchQuery(text)
	if query == "" || onlyLetter(text) {
		// Too little for the index: titles only, as plain text.
		like := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(strings.TrimSpace(text)) + "%"
		return hits, s.read(ctx, `SELECT n FROM sessions WHERE title LIKE ? ESCAPE '\'`, []any{like}, note)
	}
	return hits, s.read(ctx, "SELECT DISTINCT rowid >> 24 FROM search WHERE search MATCH ?", []any{query}, note)
}

// onlyLetter reports whether the text is one letter of a script that writes words: it
// begins half of all words.
func onlyLetter(text string) bool {
	text = strings.TrimSpace(text)
	r, size := utf8.DecodeRuneInString(text)
	return size == len(text) && !wordless(r)
}
