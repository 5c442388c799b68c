package session

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"jcode/internal/text"
	"jcode/session/db"
)

// maxIndexed is how many bytes of one message are searchable, so that a pasted log of
// megabytes doesn't make its commit slow.
const maxIndexed = 64 << 10

// A query is cut to this many bytes and words, for text that is pasted into a search box.
const (
	maxQuery = 1000
	maxTerms = 16
)

// index makes text searchable under a rowid: a message's, or session << 24 for a title.
func (t *tx) index(rowid int64, body string) error {
	return t.run("INSERT OR REPLACE INTO search (rowid, body) VALUES (?, ?)", rowid, indexText(body))
}

func (t *tx) indexMessage(rowid int64, role, body string) error {
	if (role != RoleUser && role != RoleAssistant) || strings.TrimSpace(body) == "" {
		return nil
	}
	return t.index(rowid, body)
}

// wordless reports whether a rune belongs to a script without spaces between words. Each such
// rune is indexed as a word, so that any part of a sentence is found.
func wordless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// indexText prepares text for the tokenizer. It removes terminal control sequences, which
// don't separate words on the screen.
func indexText(s string) string { return spaced(text.Clean(text.Cut(s, maxIndexed))) }

func spaced(s string) string {
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

// queryTerms turns typed text into FTS5 terms without any syntax: each word is a quoted
// phrase, and the last one may be a prefix. It returns none if the text has no word.
func queryTerms(typed string) []string {
	var terms []string
	typed = text.Valid(text.Cut(typed, maxQuery))
	open := false
	for word := range strings.FieldsSeq(typed) {
		if len(terms) == maxTerms {
			return terms
		}
		if open = strings.ContainsFunc(word, searchable); !open {
			continue
		}
		word = strings.Map(func(r rune) rune {
			if r == '"' || r == 0 {
				return ' '
			}
			return r
		}, word)
		terms = append(terms, `"`+strings.TrimSpace(spaced(word))+`"`)
	}
	if last, _ := utf8.DecodeLastRuneInString(typed); open && !unicode.IsSpace(last) {
		terms[len(terms)-1] += "*"
	}
	return terms
}

// searchable reports whether the tokenizer takes a rune as part of a word.
func searchable(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// matchingSessions returns the internal keys of the sessions in whose title or text every
// word occurs.
func matchingSessions(ctx context.Context, d *db.DB, typed string) (map[int64]bool, error) {
	terms := queryTerms(typed)
	if len(terms) == 0 || onlyLetter(typed) {
		// Too little for the index: titles only, as plain text.
		return keys(ctx, d, `SELECT n FROM sessions WHERE title LIKE ? ESCAPE '\'`, contains(typed))
	}
	var hits map[int64]bool
	for _, term := range terms {
		found, err := keys(ctx, d, "SELECT DISTINCT rowid >> 24 FROM search WHERE search MATCH ?", term)
		if err != nil {
			return nil, err
		}
		if hits == nil {
			hits = found
		}
		maps.DeleteFunc(hits, func(n int64, _ bool) bool { return !found[n] })
	}
	return hits, nil
}

func keys(ctx context.Context, d *db.DB, query string, arg any) (map[int64]bool, error) {
	hits := map[int64]bool{}
	return hits, d.Each(ctx, query, []any{arg}, func(scan db.Scan) error {
		var n int64
		err := scan(&n)
		hits[n] = true
		return err
	})
}

// contains returns the LIKE pattern (with `\` as its escape) for texts that contain s.
func contains(s string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(strings.TrimSpace(text.Cut(s, maxQuery))) + "%"
}

// onlyLetter reports whether the text is one letter of a script with words. As a prefix it
// would match too many.
func onlyLetter(s string) bool {
	s = strings.TrimSpace(s)
	r, size := utf8.DecodeRuneInString(s)
	return size == len(s) && !wordless(r)
}

// Hit is one place that a search found.
type Hit struct {
	Session Session
	Seq     int64  // the message's; 0 = the title
	Role    string // the message's role, empty for a title
	Snippet string // one line around the first word found, cleaned for a terminal
	// Marks are the byte ranges of the words found in Snippet, in order.
	Marks [][2]int
}

// Search returns the messages and titles that contain all words, newest session first, at
// most limit (0 = 100). An empty project means all projects. A query has no syntax and is
// never an error.
func (s *Store) Search(ctx context.Context, query, projectID string, limit int) ([]Hit, error) {
	if limit <= 0 {
		limit = 100
	}
	terms := queryTerms(query)
	if len(terms) == 0 {
		return nil, nil
	}
	var hits []Hit
	var docs []string
	err := s.db.Each(ctx, `SELECT search.rowid, m.role, m.parts, `+sessionColumns+`
		FROM search CROSS JOIN sessions s ON s.n = search.rowid >> 24 LEFT JOIN messages m ON m.id = search.rowid
		WHERE search MATCH ? AND (?2 = '' OR s.project_id = ?2) ORDER BY search.rowid DESC LIMIT ?3`,
		[]any{strings.Join(terms, " AND "), projectID, limit}, func(scan db.Scan) error {
			var h Hit
			var id int64
			var role sql.NullString
			var parts sql.RawBytes
			var err error
			if h.Session, err = scanSession(func(dest ...any) error { return scan(append([]any{&id, &role, &parts}, dest...)...) }); err != nil {
				return err
			}
			h.Seq, h.Role = id&maxSeq, role.String
			doc := h.Session.Title
			if h.Seq > 0 {
				var m Message
				if decodeParts(parts, &m.Parts) != nil {
					return nil // a row that was damaged since has nothing to show
				}
				doc = m.Text()
			}
			hits, docs = append(hits, h), append(docs, doc)
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("search sessions: %w", err)
	}
	words := newWordSet(query)
	for i := range hits {
		hits[i].Snippet, hits[i].Marks = words.snippet(docs[i])
	}
	return hits, nil
}
