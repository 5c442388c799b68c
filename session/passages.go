package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"jcode/internal/passage"
	"jcode/internal/text"
	"jcode/session/db"
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

// Search returns the passages of owners that match the words of a query best, the best first
// (BM25; a heading counts four times).
func (d Documents) Search(ctx context.Context, owners []string, query string, limit int) ([]Passage, error) {
	terms := queryTerms(query)
	if len(terms) == 0 || len(owners) == 0 {
		return nil, nil
	}
	for i := range terms {
		terms[i] = strings.TrimSuffix(terms[i], "*")
	}
	terms, err := d.telling(ctx, informative(terms))
	if err != nil || len(terms) == 0 {
		return nil, err
	}
	// The first query ranks the passages of all owners, because looking up the owner of each
	// hit takes longer than ranking it. If too many belong to others, the second filters first.
	wide := limit * 8
	for _, filter := range []string{"", " JOIN passages q ON q.n = f.rowid AND q.document IN (" + ownedBy + ")"} {
		ranked := 0
		found, err := d.passages(ctx, `WITH hits AS MATERIALIZED (
				SELECT f.rowid AS n, bm25(passage_search, 4.0, 1.0) AS score FROM passage_search f`+filter+`
				WHERE passage_search MATCH ?2 ORDER BY score LIMIT ?3)
			SELECT -hits.score, `+passageRest+` JOIN hits ON hits.n = p.n WHERE p.document IN (`+ownedBy+") ORDER BY hits.score LIMIT ?4",
			list(owners), strings.Join(terms, " OR "), wide, limit)
		if err != nil {
			return nil, fmt.Errorf("search documents: %w", err)
		}
		if filter == "" && len(found) < limit {
			err := d.s.db.Row(ctx, "SELECT count(*) FROM (SELECT 1 FROM passage_search WHERE passage_search MATCH ? LIMIT ?)", []any{strings.Join(terms, " OR "), wide}, &ranked)
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

// few is the number of passages below which no word is left out.
const few = 200

// telling leaves out terms that occur in more than half of all passages, and those that occur
// in none. The former add nothing to BM25 and cost the most; if there are no others, the
// rarest is kept.
func (d Documents) telling(ctx context.Context, terms []string) ([]string, error) {
	var all, least int
	if err := d.s.db.Row(ctx, "SELECT count(*) FROM passages", nil, &all); err != nil {
		return nil, fmt.Errorf("search documents: %w", err)
	}
	var rare []string
	rarest := ""
	for _, term := range terms {
		var in int
		if err := d.s.db.Row(ctx, "SELECT count(*) FROM passage_search WHERE passage_search MATCH ?", []any{term}, &in); err != nil {
			return nil, fmt.Errorf("search documents: %w", err)
		}
		if in == 0 {
			continue
		}
		if in <= all/2 || all < few {
			rare = append(rare, term)
		}
		if rarest == "" || in < least {
			rarest, least = term, in
		}
	}
	if rare == nil && rarest != "" {
		rare = []string{rarest}
	}
	return rare, nil
}

// informative leaves out words that occur in every text, unless there are no others.
func informative(terms []string) []string {
	const common = ` a an and are as at be by can do does for from has have how i in is it its of on or that the this to was we what when where which who why will with you your `
	var out []string
	for _, t := range terms {
		if word := strings.ToLower(strings.Trim(t, `"`)); !strings.Contains(common, " "+word+" ") {
			out = append(out, t)
		}
	}
	if out == nil {
		return terms
	}
	return out
}

// Passages returns passages by their IDs, in no particular order. Missing ones are left out.
func (d Documents) Passages(ctx context.Context, ids []int64) ([]Passage, error) {
	found, err := d.passages(ctx, "SELECT "+passageColumns+" WHERE p.n IN (SELECT value FROM json_each(?))", list(ids))
	return found, wrap("read passages", err)
}

// WithoutVector returns passages of owners that have no embedding of a model, in the order of
// their IDs.
func (d Documents) WithoutVector(ctx context.Context, owners []string, model string, limit int) ([]Passage, error) {
	found, err := d.passages(ctx, "SELECT "+passageColumns+` WHERE p.document IN (`+ownedBy+`)
		AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage = p.n AND v.model = ?2) ORDER BY p.n LIMIT ?3`, list(owners), model, limit)
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
