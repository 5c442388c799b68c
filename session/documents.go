package session

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"jcode/internal/passage"
	"jcode/internal/text"
)

// Documents keeps the passages of documents, by owner, so that they can be searched. A document
// is kept once, whoever owns it, and goes with its last owner.
type Documents struct{ s *Store }

// Documents returns the store's documents.
func (s *Store) Documents() Documents { return Documents{s} }

// Document is one file or page whose passages are kept.
type Document struct {
	Path     string // absolute path, or address
	Title    string // "" where the text has none
	Hash     string // of what was read; "" for what could not be read
	Size     int64  // bytes
	Modified int64  // the file's time, in nanoseconds since 1970
	Indexed  time.Time
	Problem  string // what is wrong with it, "" for nothing
	Passages int    // set by List
	Vectors  int    // passages with an embedding of any model, set by List
}

// Passage is one passage of a document.
type Passage struct {
	ID      int64
	Path    string
	Title   string
	Problem string // of the document
	passage.Passage
}

// Sources returns what was added to an owner, in that order.
func (d Documents) Sources(ctx context.Context, owner string) ([]string, error) {
	var all []string
	err := d.s.read(ctx, "SELECT source FROM document_sources WHERE owner = ? ORDER BY added, source", []any{owner}, func(scan func(...any) error) error {
		var source string
		err := scan(&source)
		all = append(all, source)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list documents: %w", err)
	}
	return all, nil
}

// errPrivateDocuments says why a session gets no documents.
var errPrivateDocuments = errors.New("documents are indexed on the disk, and nothing of a private conversation is kept there: /save it first")

// private reports whether an owner is a session in memory.
func (d Documents) private(owner string) bool {
	id, is := strings.CutPrefix(owner, SessionDocuments(""))
	return is && d.s.InMemory(id)
}

// AddSources keeps sources of an owner; those that it has already stay as they are.
func (d Documents) AddSources(ctx context.Context, owner string, sources ...string) error {
	if d.private(owner) {
		return errPrivateDocuments
	}
	err := d.s.write(ctx, func(t *tx) error {
		for i, source := range sources {
			if _, err := t.exec("INSERT OR IGNORE INTO document_sources (owner, source, added) VALUES (?, ?, ?)", owner, source, d.s.now().UnixNano()+int64(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep documents: %w", err)
	}
	return nil
}

// RemoveSource forgets a source, and reports whether there was one.
func (d Documents) RemoveSource(ctx context.Context, owner, source string) (bool, error) {
	var n int64
	err := d.s.write(ctx, func(t *tx) error {
		res, err := t.exec("DELETE FROM document_sources WHERE owner = ? AND source = ?", owner, source)
		if err == nil {
			n, err = res.RowsAffected()
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("remove documents: %w", err)
	}
	return n > 0, nil
}

// List returns the documents of owners by path.
func (d Documents) List(ctx context.Context, owners ...string) ([]Document, error) {
	var all []Document
	err := d.s.read(ctx, `SELECT d.path, d.title, d.hash, d.size, d.modified, d.indexed, d.problem,
			(SELECT count(*) FROM passages WHERE document = d.n),
			(SELECT count(*) FROM passages p JOIN vectors v ON v.passage = p.n WHERE p.document = d.n)
		FROM documents d WHERE d.n IN (`+ownedBy+`) ORDER BY d.path`, []any{list(owners)}, func(scan func(...any) error) error {
		var doc Document
		var indexed int64
		err := scan(&doc.Path, &doc.Title, &doc.Hash, &doc.Size, &doc.Modified, &indexed, &doc.Problem, &doc.Passages, &doc.Vectors)
		doc.Indexed = fromMillis(indexed)
		all = append(all, doc)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list documents: %w", err)
	}
	return all, nil
}

// ownedBy selects the documents of a list of owners, the first argument of the statement.
const ownedBy = "SELECT document FROM document_owners WHERE owner IN (SELECT value FROM json_each(?1))"

func list[T string | int64](all []T) string {
	b, err := json.Marshal(all)
	if err != nil {
		return "[]" // texts and numbers can always be encoded
	}
	return string(b)
}

// Known returns what is kept of a document, whoever owns it; ErrNotFound for nothing.
func (d Documents) Known(ctx context.Context, path string) (Document, error) {
	doc := Document{Path: path}
	var indexed int64
	err := d.s.readRow(ctx, "SELECT title, hash, size, modified, indexed, problem FROM documents WHERE path = ?", []any{path},
		&doc.Title, &doc.Hash, &doc.Size, &doc.Modified, &indexed, &doc.Problem)
	doc.Indexed = fromMillis(indexed)
	return doc, err
}

// Put keeps a document with its passages, in place of those it had, and gives it an owner.
func (d Documents) Put(ctx context.Context, owner string, doc Document, passages []passage.Passage) error {
	err := d.s.write(ctx, func(t *tx) error {
		n, err := d.own(t, owner, doc)
		if err != nil {
			return err
		}
		if _, err := t.exec("DELETE FROM passages WHERE document = ?", n); err != nil {
			return err
		}
		for _, p := range passages {
			res, err := t.exec("INSERT INTO passages (document, heading, first, last, text) VALUES (?, ?, ?, ?, ?)", n, p.Heading, p.First, p.Last, p.Text)
			if err != nil {
				return err
			}
			id, err := res.LastInsertId()
			if err != nil {
				return err
			}
			if _, err := t.exec("INSERT INTO passage_search (rowid, heading, body) VALUES (?, ?, ?)", id, indexText(doc.Title+" "+p.Heading), indexText(p.Text)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index %s: %w", doc.Path, err)
	}
	return nil
}

// Note keeps what is known of a document and gives it an owner; its passages stay.
func (d Documents) Note(ctx context.Context, owner string, doc Document) error {
	err := d.s.write(ctx, func(t *tx) error {
		_, err := d.own(t, owner, doc)
		return err
	})
	if err != nil {
		return fmt.Errorf("index %s: %w", doc.Path, err)
	}
	return nil
}

func (d Documents) own(t *tx, owner string, doc Document) (n int64, err error) {
	if _, err := t.exec(`INSERT INTO documents (path, title, hash, size, modified, indexed, problem) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (path) DO UPDATE SET title = excluded.title, hash = excluded.hash, size = excluded.size, modified = excluded.modified,
			indexed = excluded.indexed, problem = excluded.problem`,
		doc.Path, doc.Title, doc.Hash, doc.Size, doc.Modified, toMillis(d.s.now()), doc.Problem); err != nil {
		return 0, err
	}
	if err := t.row("SELECT n FROM documents WHERE path = ?", []any{doc.Path}, &n); err != nil {
		return 0, err
	}
	_, err = t.exec("INSERT OR IGNORE INTO document_owners (owner, document) VALUES (?, ?)", owner, n)
	return n, err
}

// Drop takes documents from an owner; with no path, all of them.
func (d Documents) Drop(ctx context.Context, owner string, paths ...string) error {
	err := d.s.write(ctx, func(t *tx) error {
		if len(paths) == 0 {
			_, err := t.exec("DELETE FROM document_owners WHERE owner = ?", owner)
			return err
		}
		_, err := t.exec("DELETE FROM document_owners WHERE owner = ? AND document IN (SELECT n FROM documents WHERE path IN (SELECT value FROM json_each(?)))", owner, list(paths))
		return err
	})
	if err != nil {
		return fmt.Errorf("drop documents: %w", err)
	}
	return nil
}

// Forget takes everything from an owner: documents and sources.
func (d Documents) Forget(ctx context.Context, owner string) error {
	err := d.s.write(ctx, func(t *tx) error { return t.forgetDocuments(owner) })
	if err != nil {
		return fmt.Errorf("drop documents: %w", err)
	}
	return nil
}

func (t *tx) forgetDocuments(owner string) error {
	if _, err := t.exec("DELETE FROM document_sources WHERE owner = ?", owner); err != nil {
		return err
	}
	_, err := t.exec("DELETE FROM document_owners WHERE owner = ?", owner)
	return err
}

// ForgetOld does what Forget does to the owners with a prefix that were given nothing for a
// while.
func (d Documents) ForgetOld(ctx context.Context, prefix string, age time.Duration) error {
	err := d.s.write(ctx, func(t *tx) error {
		var old []string
		err := t.each("SELECT owner FROM document_sources WHERE substr(owner, 1, length(?1)) = ?1 GROUP BY owner HAVING max(added) < ?2",
			[]any{prefix, d.s.now().Add(-age).UnixNano()}, func(scan func(...any) error) error {
				var owner string
				err := scan(&owner)
				old = append(old, owner)
				return err
			})
		for _, owner := range old {
			if err == nil {
				err = t.forgetDocuments(owner)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("drop documents: %w", err)
	}
	return nil
}

// Move gives the documents and sources of one owner to another.
func (d Documents) Move(ctx context.Context, from, to string) error {
	if d.private(to) {
		return errors.Join(errPrivateDocuments, d.Forget(ctx, from))
	}
	err := d.s.write(ctx, func(t *tx) error {
		if err := t.copyDocuments(from, to); err != nil {
			return err
		}
		return t.forgetDocuments(from)
	})
	if err != nil {
		return fmt.Errorf("move documents: %w", err)
	}
	return nil
}

func (t *tx) copyDocuments(from, to string) error {
	if _, err := t.exec("INSERT OR IGNORE INTO document_sources (owner, source, added) SELECT ?2, source, added FROM document_sources WHERE owner = ?1", from, to); err != nil {
		return err
	}
	_, err := t.exec("INSERT OR IGNORE INTO document_owners (owner, document) SELECT ?2, document FROM document_owners WHERE owner = ?1", from, to)
	return err
}

// SessionDocuments is the owner of what was added to a session.
func SessionDocuments(id string) string { return "session:" + id }

// RoleDocuments is the owner of the documents of a role, as it is in a project.
func RoleDocuments(project, name string) string { return "role:" + project + ":" + name }

const passageColumns = "p.n, d.path, d.title, d.problem, p.heading, p.first, p.last, p.text FROM passages p JOIN documents d ON d.n = p.document"

// Search returns the passages of owners that fit the words of a query best (BM25, a heading
// counts four times), the best first.
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
	// The best of all owners are looked at first: to ask for the owner of each hit takes longer
	// than to rank it. Where too many belong to others, each is asked for.
	wide := limit * 8
	for _, filter := range []string{"", " JOIN passages q ON q.n = f.rowid AND q.document IN (" + ownedBy + ")"} {
		ranked := 0
		found, err := d.passages(ctx, `WITH hits AS MATERIALIZED (
				SELECT f.rowid AS n, bm25(passage_search, 4.0, 1.0) AS score FROM passage_search f`+filter+`
				WHERE passage_search MATCH ?2 ORDER BY score LIMIT ?3)
			SELECT `+passageColumns+` JOIN hits ON hits.n = p.n WHERE p.document IN (`+ownedBy+") ORDER BY hits.score LIMIT ?4",
			list(owners), strings.Join(terms, " OR "), wide, limit)
		if err != nil {
			return nil, fmt.Errorf("search documents: %w", err)
		}
		if filter == "" && len(found) < limit {
			err := d.s.readRow(ctx, "SELECT count(*) FROM (SELECT 1 FROM passage_search WHERE passage_search MATCH ? LIMIT ?)", []any{strings.Join(terms, " OR "), wide}, &ranked)
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

// few is the number of passages below which each word counts.
const few = 200

// telling leaves out terms that stand in more than half of all passages, and those that stand
// in none. The first are worth nothing to BM25 and cost the most; where there are no others,
// the rarest is kept.
func (d Documents) telling(ctx context.Context, terms []string) ([]string, error) {
	var all, least int
	if err := d.s.readRow(ctx, "SELECT count(*) FROM passages", nil, &all); err != nil {
		return nil, fmt.Errorf("search documents: %w", err)
	}
	var rare []string
	rarest := ""
	for _, term := range terms {
		var in int
		if err := d.s.readRow(ctx, "SELECT count(*) FROM passage_search WHERE passage_search MATCH ?", []any{term}, &in); err != nil {
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

// informative leaves out words that stand in every text, where others are left.
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

// Passages returns passages by their IDs, in no certain order; those that are gone are left out.
func (d Documents) Passages(ctx context.Context, ids []int64) ([]Passage, error) {
	found, err := d.passages(ctx, "SELECT "+passageColumns+" WHERE p.n IN (SELECT value FROM json_each(?))", list(ids))
	if err != nil {
		return nil, fmt.Errorf("read passages: %w", err)
	}
	return found, nil
}

// WithoutVector returns passages of owners that have no embedding of a model, in the order of
// their IDs.
func (d Documents) WithoutVector(ctx context.Context, owners []string, model string, limit int) ([]Passage, error) {
	found, err := d.passages(ctx, "SELECT "+passageColumns+` WHERE p.document IN (`+ownedBy+`)
		AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage = p.n AND v.model = ?2) ORDER BY p.n LIMIT ?3`, list(owners), model, limit)
	if err != nil {
		return nil, fmt.Errorf("read passages: %w", err)
	}
	return found, nil
}

func (d Documents) passages(ctx context.Context, query string, args ...any) ([]Passage, error) {
	var all []Passage
	err := d.s.read(ctx, query, args, func(scan func(...any) error) error {
		var p Passage
		err := scan(&p.ID, &p.Path, &p.Title, &p.Problem, &p.Heading, &p.First, &p.Last, &p.Text)
		p.Text = text.Valid(p.Text)
		all = append(all, p)
		return err
	})
	return all, err
}

// PutVectors keeps embeddings of a model; what vanished meanwhile is left out.
func (d Documents) PutVectors(ctx context.Context, model string, vectors map[int64][]byte) error {
	err := d.s.write(ctx, func(t *tx) error {
		for id, v := range vectors {
			var there int64
			err := t.row("SELECT n FROM passages WHERE n = ?", []any{id}, &there)
			if errors.Is(err, ErrNotFound) {
				continue
			}
			if err == nil {
				_, err = t.exec("INSERT OR REPLACE INTO vectors (passage, model, vector) VALUES (?, ?, ?)", id, model, v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep embeddings: %w", err)
	}
	return nil
}

// Vectors calls fn for each embedding of a model among the passages of owners. The bytes are
// valid during the call only.
func (d Documents) Vectors(ctx context.Context, owners []string, model string, fn func(id int64, vector []byte)) error {
	err := d.s.read(ctx, `SELECT v.passage, v.vector FROM vectors v JOIN passages p ON p.n = v.passage
		WHERE v.model = ?2 AND p.document IN (`+ownedBy+")", []any{list(owners), model}, func(scan func(...any) error) error {
		var id int64
		var vector sql.RawBytes
		err := scan(&id, &vector)
		if err == nil {
			fn(id, vector)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read embeddings: %w", err)
	}
	return nil
}

// VectorLength returns the dimension of the embeddings of a model among the passages of owners,
// 0 where there are none.
func (d Documents) VectorLength(ctx context.Context, owners []string, model string) (int, error) {
	n := 0
	err := d.s.readRow(ctx, `SELECT length(v.vector) / 2 FROM vectors v JOIN passages p ON p.n = v.passage
		WHERE v.model = ?2 AND p.document IN (`+ownedBy+") LIMIT 1", []any{list(owners), model}, &n)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return 0, fmt.Errorf("read embeddings: %w", err)
	}
	return n, nil
}

// ForgetVectors drops the embeddings of owners' passages.
func (d Documents) ForgetVectors(ctx context.Context, owners ...string) error {
	err := d.s.write(ctx, func(t *tx) error {
		_, err := t.exec("DELETE FROM vectors WHERE passage IN (SELECT n FROM passages WHERE document IN ("+ownedBy+"))", list(owners))
		return err
	})
	if err != nil {
		return fmt.Errorf("drop embeddings: %w", err)
	}
	return nil
}
