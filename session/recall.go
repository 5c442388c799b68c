package session

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"jcode/internal/ranking"
	"jcode/internal/text"
	"jcode/session/db"
	"jcode/session/words"
)

// The widths of Recall.
const (
	recallRows   = 400  // that are looked at, of those that are ranked
	recallRanked = 3000 // that are ranked: of more, those of the rarest words, or the newest
)

// Recall returns places in titles, prompts and answers of a project's sessions that fit a question best, the best
// first, at most one for each session, and none of the sessions in except. Unlike Search it does not need all
// words, and finds other forms of them. A question has no syntax and is never an error.
func (s *Store) Recall(ctx context.Context, question, projectID string, limit int, except ...string) ([]Hit, error) {
	match, from, err := s.recallTerms(ctx, question)
	if err != nil || match == "" || limit <= 0 {
		return nil, err
	}
	asked := words.WithStems(ranking.Terms(question))
	// The first query ranks the rows of all projects, since looking up the project of each takes longer than ranking
	// it. If too many are of others, the second filters first.
	for _, filter := range []string{"", " AND rowid >> 24 IN (SELECT n FROM sessions WHERE project_id = ?2)"} {
		ranked := 0
		var hits []Hit
		var docs []string
		seen := map[string]bool{}
		for _, id := range except {
			seen[id] = true
		}
		err := s.db.Each(ctx, `WITH hits AS MATERIALIZED (SELECT rowid AS n, rank AS score FROM search WHERE search MATCH ?1 AND rowid >= ?4`+filter+` ORDER BY rank LIMIT ?3)
			SELECT hits.n, m.role, m.parts, s.project_id = ?2, `+sessionColumns+` FROM hits JOIN sessions s ON s.n = hits.n >> 24 LEFT JOIN messages m ON m.id = hits.n
			ORDER BY hits.score`, []any{match, projectID, recallRows, from}, func(scan db.Scan) error {
			ranked++
			var h Hit
			var id int64
			var role sql.NullString
			var parts sql.RawBytes
			var own bool
			var err error
			if h.Session, err = scanSession(func(dest ...any) error { return scan(append([]any{&id, &role, &parts, &own}, dest...)...) }); err != nil {
				return err
			}
			if !own || seen[h.Session.ID] || len(hits) == limit {
				return nil
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
			seen[h.Session.ID] = true
			hits, docs = append(hits, h), append(docs, doc)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("search earlier sessions: %w", err)
		}
		if filter == "" && len(hits) < limit && ranked == recallRows {
			continue
		}
		for i := range hits {
			hits[i].Snippet, hits[i].Marks = asked.Snippet(docs[i])
		}
		return hits, nil
	}
	return nil, nil
}

// recallTerms returns what to match for a question: its rarest words, each as the beginning that its forms have in
// common, and the row from which on to look.
func (s *Store) recallTerms(ctx context.Context, question string) (match string, from int64, err error) {
	type term struct {
		text string
		rows int
	}
	var terms []term
	seen := map[string]bool{}
	ranking.Each(text.Valid(text.Cut(question, words.MaxQuery)), func(w string) {
		begin := words.Beginning(w)
		if ranking.Common(w) || seen[begin] || len(seen) == words.MaxTerms {
			return
		}
		seen[begin] = true
		terms = append(terms, term{text: `"` + begin + `"` + words.Prefixed(begin, w)})
	})
	for i := range terms {
		err := s.db.Row(ctx, "SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT ?)", []any{terms[i].text, recallRanked}, &terms[i].rows)
		if err != nil {
			return "", 0, fmt.Errorf("search earlier sessions: %w", err)
		}
	}
	terms = slices.DeleteFunc(terms, func(t term) bool { return t.rows == 0 })
	slices.SortStableFunc(terms, func(a, b term) int { return a.rows - b.rows })
	var chosen []string
	total := 0
	for _, t := range terms {
		if total += t.rows; total > recallRanked && chosen != nil {
			break
		}
		chosen = append(chosen, t.text)
	}
	match = strings.Join(chosen, " OR ")
	if len(terms) > 0 && terms[0].rows == recallRanked { // even the rarest word is in most texts
		err = s.db.Row(ctx, "SELECT rowid FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET ?", []any{match, recallRanked - 1}, &from)
		if err != nil {
			return "", 0, fmt.Errorf("search earlier sessions: %w", err)
		}
	}
	return match, from, nil
}
