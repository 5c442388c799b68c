package session

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"strings"

	"jcode/internal/text"
	"jcode/session/db"
	"jcode/session/words"
)

// index makes text searchable under a rowid: a message's, or session << 24 for a title.
func (t *tx) index(rowid int64, body string) error {
	return t.run("INSERT OR REPLACE INTO search (rowid, body) VALUES (?, ?)", rowid, words.Indexed(body))
}

func (t *tx) indexMessage(rowid int64, role, body string) error {
	if (role != RoleUser && role != RoleAssistant) || strings.TrimSpace(body) == "" {
		return nil
	}
	return t.index(rowid, body)
}

// matchingSessions returns the internal keys of the sessions in whose title or text every
// word occurs.
func matchingSessions(ctx context.Context, d *db.DB, typed string) (map[int64]bool, error) {
	terms := words.Terms(typed)
	if len(terms) == 0 || words.OnlyLetter(typed) {
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
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(strings.TrimSpace(text.Cut(s, words.MaxQuery))) + "%"
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
	terms := words.Terms(query)
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
	found := words.Of(query)
	for i := range hits {
		hits[i].Snippet, hits[i].Marks = found.Snippet(docs[i])
	}
	return hits, nil
}
