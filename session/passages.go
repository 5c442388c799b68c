package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"jcode/internal/passage"
	"jcode/internal/ranking"
	"jcode/internal/text"
	"jcode/session/db"
	"jcode/session/words"
)

// Passage is one passage of a document.
type Passage struct {
	ID      int64
	Path    string
	Title   string
	Problem string // of the document
	// Score says how well it fits the words of a search; more is better. Set by Search.
	Score float64
	passage.Passage
}

const passageColumns = "0.0, " + passageRest

const passageRest = "p.n, d.path, d.title, d.problem, p.heading, p.first, p.last, p.text FROM passages p JOIN documents d ON d.n = p.document"

// The widths of Search.
const (
	rankedFewest = 150 // passages that are ranked anew, of each kind of words
	few          = 200 // passages below which no word is left out
)

// Search returns the passages of owners that fit the words of a query best, or words that mean much the same, the best
// first. fitness says how much a passage counts; it may be nil.
func (d Documents) Search(ctx context.Context, owners []string, query string, limit int, fitness func(Passage) float64) ([]Passage, error) {
	if len(owners) == 0 {
		return nil, nil
	}
	q, err := d.ask(ctx, query)
	if err != nil {
		return nil, err
	}
	found := map[int64]Passage{}
	var texts []ranking.Text
	for _, terms := range [][]string{q.words, q.related} {
		list, err := d.matching(ctx, owners, terms, max(limit, rankedFewest))
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			if _, had := found[p.ID]; had {
				continue
			}
			found[p.ID] = p
			text := ranking.Text{ID: p.ID, Place: place(p.Path), Heading: p.Title + " " + p.Heading, Body: p.Text, Fitness: 1}
			if fitness != nil {
				text.Fitness = fitness(p)
			}
			texts = append(texts, text)
		}
	}
	var out []Passage
	for _, s := range ranking.Rank(q.concepts, texts, q.all) {
		if len(out) == limit {
			break
		}
		p := found[s.ID]
		p.Score = s.Score
		out = append(out, p)
	}
	return out, nil
}

// place is the part of a path that says what a document is about.
func place(path string) string {
	dir, name := filepath.Split(path)
	return filepath.Base(dir) + " " + strings.TrimSuffix(name, filepath.Ext(name))
}

// matching returns passages of owners that match any of some terms, the best first (BM25; a heading counts four times).
func (d Documents) matching(ctx context.Context, owners, terms []string, limit int) ([]Passage, error) {
	if len(terms) == 0 {
		return nil, nil
	}
	match := strings.Join(terms, " OR ")
	// The first query ranks the passages of all owners, because looking up the owner of each
	// hit takes longer than ranking it. If too many belong to others, the second filters first.
	wide := limit * 8
	for _, filter := range []string{"", " JOIN passages q ON q.n = f.rowid AND q.document IN (" + ownedBy + ")"} {
		ranked := 0
		found, err := d.passages(ctx, `WITH hits AS MATERIALIZED (
				SELECT f.rowid AS n, bm25(passage_search, 4.0, 1.0) AS score FROM passage_search f`+filter+`
				WHERE passage_search MATCH ?2 ORDER BY score LIMIT ?3)
			SELECT -hits.score, `+passageRest+` JOIN hits ON hits.n = p.n WHERE p.document IN (`+ownedBy+") ORDER BY hits.score LIMIT ?4",
			list(owners), match, wide, limit)
		if err != nil {
			return nil, fmt.Errorf("search documents: %w", err)
		}
		if filter == "" && len(found) < limit {
			err := d.s.db.Row(ctx, "SELECT count(*) FROM (SELECT 1 FROM passage_search WHERE passage_search MATCH ? LIMIT ?)", []any{match, wide}, &ranked)
			if err != nil {
				return nil, fmt.Errorf("search documents: %w", err)
			}
		}
		if filter != "" || ranked < wide {
			return found, nil
		}
	}
	return nil, nil
}

// asked is a query in terms of the index.
type asked struct {
	concepts       []ranking.Concept
	all            ranking.Collection
	words, related []string // FTS5 terms: those of the query, and others that mean much the same
}

// ask finds out which terms of a query tell passages apart: not those that occur in more than half of all passages,
// which add nothing to a ranking and cost the most, unless there are no others.
func (d Documents) ask(ctx context.Context, query string) (asked, error) {
	query = text.Valid(text.Cut(query, words.MaxQuery))
	q := asked{concepts: ranking.Concepts(query)}
	in := map[string]int{}
	count := func(word, term string) error {
		n := 0
		err := d.s.db.Row(ctx, "SELECT count(*) FROM passage_search WHERE passage_search MATCH ?", []any{term}, &n)
		in[word] = n
		return err
	}
	err := d.s.db.Row(ctx, "SELECT count(*) FROM passages", nil, &q.all.Texts)
	rarest := ""
	for _, c := range q.concepts {
		for _, t := range c {
			term := `"` + words.Spaced(t.Word) + `"`
			if _, counted := in[t.Word]; !counted && err == nil {
				err = count(t.Word, term)
			}
			switch n := in[t.Word]; {
			case n == 0:
				continue
			case n > q.all.Texts/2 && q.all.Texts >= few:
				if rarest == "" {
					rarest = term
				}
				continue
			case t.Weight == 1:
				q.words = append(q.words, term)
			default:
				q.related = append(q.related, term)
			}
		}
	}
	if q.words == nil && q.related == nil && rarest != "" {
		q.words = []string{rarest}
	}
	q.all.In = func(word string) int { return in[word] }
	return q, wrap("search documents", err)
}

// Passages returns passages by their IDs, in no particular order. Missing ones are left out.
func (d Documents) Passages(ctx context.Context, ids []int64) ([]Passage, error) {
	found, err := d.passages(ctx, "SELECT "+passageColumns+" WHERE p.n IN (SELECT value FROM json_each(?))", list(ids))
	return found, wrap("read passages", err)
}

// WithoutVector returns the IDs, in their order, of the passages of owners behind an ID that have no embedding of a model.
// It looks at every passage of theirs, but reads none.
func (d Documents) WithoutVector(ctx context.Context, owners []string, model string, behind int64) ([]int64, error) {
	found, err := db.All(ctx, d.s.db, `SELECT p.n FROM passages p WHERE p.document IN (`+ownedBy+`) AND p.n > ?3
		AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage = p.n AND v.model = ?2) ORDER BY p.n`, []any{list(owners), model, behind}, db.One[int64])
	return found, wrap("read passages", err)
}

func (d Documents) passages(ctx context.Context, query string, args ...any) ([]Passage, error) {
	return db.All(ctx, d.s.db, query, args, func(scan db.Scan) (p Passage, err error) {
		err = scan(&p.Score, &p.ID, &p.Path, &p.Title, &p.Problem, &p.Heading, &p.First, &p.Last, &p.Text)
		p.Text = text.Valid(p.Text)
		return p, err
	})
}

// PutVectors stores embeddings of a model. Those of passages that are gone are left out.
func (d Documents) PutVectors(ctx context.Context, model string, vectors map[int64][]byte) error {
	return d.s.change(ctx, "keep embeddings", func(t *tx) error {
		for id, v := range vectors {
			var there int64
			err := t.Row("SELECT n FROM passages WHERE n = ?", []any{id}, &there)
			if errors.Is(err, ErrNotFound) {
				continue
			}
			if err == nil {
				_, err = t.Exec("INSERT OR REPLACE INTO vectors (passage, model, vector) VALUES (?, ?, ?)", id, model, v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Vectors calls fn for each embedding of a model among the passages of owners. The bytes are
// valid only during the call.
func (d Documents) Vectors(ctx context.Context, owners []string, model string, fn func(id int64, vector []byte)) error {
	err := d.s.db.Each(ctx, `SELECT v.passage, v.vector FROM vectors v JOIN passages p ON p.n = v.passage
		WHERE v.model = ?2 AND p.document IN (`+ownedBy+")", []any{list(owners), model}, func(scan func(...any) error) error {
		var id int64
		var vector sql.RawBytes
		err := scan(&id, &vector)
		if err == nil {
			fn(id, vector)
		}
		return err
	})
	return wrap("read embeddings", err)
}

// CountVectors returns how many passages of owners have an embedding of a model.
func (d Documents) CountVectors(ctx context.Context, owners []string, model string) (n int, err error) {
	err = d.s.db.Row(ctx, `SELECT count(*) FROM vectors v JOIN passages p ON p.n = v.passage
		WHERE v.model = ?2 AND p.document IN (`+ownedBy+")", []any{list(owners), model}, &n)
	return n, wrap("read embeddings", err)
}

// VectorLength returns the dimension of the embeddings of a model among the passages of owners,
// 0 where there are none.
func (d Documents) VectorLength(ctx context.Context, owners []string, model string) (int, error) {
	n := 0
	err := d.s.db.Row(ctx, `SELECT length(v.vector) / 2 FROM vectors v JOIN passages p ON p.n = v.passage
		WHERE v.model = ?2 AND p.document IN (`+ownedBy+") LIMIT 1", []any{list(owners), model}, &n)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return 0, fmt.Errorf("read embeddings: %w", err)
	}
	return n, nil
}

// ForgetVectors deletes the embeddings of owners' passages.
func (d Documents) ForgetVectors(ctx context.Context, owners ...string) error {
	return d.s.change(ctx, "drop embeddings", func(t *tx) error {
		return t.run("DELETE FROM vectors WHERE passage IN (SELECT n FROM passages WHERE document IN ("+ownedBy+"))", list(owners))
	})
}
