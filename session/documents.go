package session

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"jcode/internal/passage"
	"jcode/internal/ranking"
	"jcode/session/db"
	"jcode/session/words"
)

// Documents keeps the passages of documents, by owner, so that they can be searched. A document
// is stored once for all its owners, and deleted with the last one.
type Documents struct{ s *Store }

// Documents returns the store's documents.
func (s *Store) Documents() Documents { return Documents{s} }

// Document is one file or page whose passages are kept.
type Document struct {
	Path     string // absolute path, or address
	Title    string // "" where the text has none
	Hash     string // of the content; "" if it could not be read
	Size     int64  // bytes
	Modified int64  // the file's time, in nanoseconds since 1970
	Indexed  time.Time
	Problem  string // what is wrong with it, "" for nothing
	Passages int    // set by List
}

// Sources returns the sources of an owner in the order in which they were added.
func (d Documents) Sources(ctx context.Context, owner string) ([]string, error) {
	all, err := db.Few(ctx, d.s.db, "SELECT source FROM document_sources WHERE owner = ? ORDER BY added, source", []any{owner}, db.One[string])
	return all, wrap("list documents", err)
}

// ErrPrivateDocuments says why a private session can't have documents.
var ErrPrivateDocuments = errors.New("documents are indexed on the disk, and nothing of a private conversation is kept there: /save it first")

// private reports whether an owner is a session in memory.
func (d Documents) private(owner string) bool {
	id, is := strings.CutPrefix(owner, SessionDocuments(""))
	return is && d.s.Memory().Has(id)
}

// AddSources adds sources to an owner; those that it has already stay as they are.
func (d Documents) AddSources(ctx context.Context, owner string, sources ...string) error {
	if d.private(owner) {
		return ErrPrivateDocuments
	}
	return d.s.change(ctx, "keep documents", func(t *tx) error {
		for i, source := range sources {
			if err := t.run("INSERT OR IGNORE INTO document_sources (owner, source, added) VALUES (?, ?, ?)", owner, source, t.now().UnixNano()+int64(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// RemoveSource removes a source, and reports whether there was one.
func (d Documents) RemoveSource(ctx context.Context, owner, source string) (bool, error) {
	var n int64
	err := d.s.change(ctx, "remove documents", func(t *tx) (err error) {
		n, err = changedRows(t.Exec("DELETE FROM document_sources WHERE owner = ? AND source = ?", owner, source))
		return err
	})
	return n > 0, err
}

// List returns the documents of owners, sorted by path.
func (d Documents) List(ctx context.Context, owners ...string) ([]Document, error) {
	return fetch(ctx, d.s, "list documents", `SELECT d.path, d.title, d.hash, d.size, d.modified, d.indexed, d.problem,
			(SELECT count(*) FROM passages WHERE document = d.n)
		FROM documents d WHERE d.n IN (`+ownedBy+`) ORDER BY d.path`, []any{list(owners)}, func(scan db.Scan) (doc Document, err error) {
		err = scan(&doc.Path, &doc.Title, &doc.Hash, &doc.Size, &doc.Modified, millis{&doc.Indexed}, &doc.Problem, &doc.Passages)
		return doc, err
	})
}

// Any reports whether owners have any passage.
func (d Documents) Any(ctx context.Context, owners ...string) (there bool, err error) {
	err = d.s.db.Row(ctx, "SELECT EXISTS (SELECT 1 FROM passages WHERE document IN ("+ownedBy+"))", []any{list(owners)}, &there)
	return there, wrap("list documents", err)
}

// ownedBy selects the documents of the owners in the statement's first argument.
const ownedBy = "SELECT document FROM document_owners WHERE owner IN (SELECT value FROM json_each(?1))"

func list[T string | int64](all []T) string {
	b, err := json.Marshal(all)
	if err != nil {
		return "[]" // never: strings and numbers can be encoded
	}
	return string(b)
}

// Known returns a document, whoever owns it. It returns ErrNotFound if none is kept.
func (d Documents) Known(ctx context.Context, path string) (Document, error) {
	doc := Document{Path: path}
	err := d.s.db.Row(ctx, "SELECT title, hash, size, modified, indexed, problem FROM documents WHERE path = ?", []any{path},
		&doc.Title, &doc.Hash, &doc.Size, &doc.Modified, millis{&doc.Indexed}, &doc.Problem)
	return doc, err
}

// Put stores a document with its passages, replacing earlier ones, and adds an owner.
func (d Documents) Put(ctx context.Context, owner string, doc Document, passages []passage.Passage) error {
	return d.s.change(ctx, "index "+doc.Path, func(t *tx) error {
		n, err := t.own(owner, doc)
		if err != nil {
			return err
		}
		if err := t.run("DELETE FROM passages WHERE document = ?", n); err != nil {
			return err
		}
		for _, p := range passages {
			res, err := t.Exec("INSERT INTO passages (document, heading, first, last, text) VALUES (?, ?, ?, ?, ?)", n, p.Heading, p.First, p.Last, p.Text)
			if err != nil {
				return err
			}
			id, err := res.LastInsertId()
			if err != nil {
				return err
			}
			if err := t.indexPassage(id, doc.Title+" "+p.Heading, p.Text); err != nil {
				return err
			}
		}
		return nil
	})
}

// indexPassage makes a passage searchable.
func (t *tx) indexPassage(n int64, heading, body string) error {
	return t.run("INSERT INTO passage_search (rowid, heading, body) VALUES (?, ?, ?)", n, words.Indexed(heading), words.Indexed(body+" "+strings.Join(identifierParts(body), " ")))
}

// identifierParts returns the parts of identifiers in a text, which the index's tokenizer keeps whole: idle of
// maxIdleConns.
func identifierParts(body string) (out []string) {
	for word := range strings.FieldsFuncSeq(body, func(r rune) bool { return !words.Searchable(r) }) {
		parts := ranking.Parts(word)
		if len(parts) > 1 {
			out = append(out, parts[1:]...)
		}
	}
	return out
}

// Note stores a document without changing its passages, and adds an owner.
func (d Documents) Note(ctx context.Context, owner string, doc Document) error {
	return d.s.change(ctx, "index "+doc.Path, func(t *tx) error {
		_, err := t.own(owner, doc)
		return err
	})
}

func (t *tx) own(owner string, doc Document) (n int64, err error) {
	if err := t.run(`INSERT INTO documents (path, title, hash, size, modified, indexed, problem) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (path) DO UPDATE SET title = excluded.title, hash = excluded.hash, size = excluded.size, modified = excluded.modified,
			indexed = excluded.indexed, problem = excluded.problem`,
		doc.Path, doc.Title, doc.Hash, doc.Size, doc.Modified, toMillis(t.now()), doc.Problem); err != nil {
		return 0, err
	}
	if err := t.Row("SELECT n FROM documents WHERE path = ?", []any{doc.Path}, &n); err != nil {
		return 0, err
	}
	_, err = t.Exec("INSERT OR IGNORE INTO document_owners (owner, document) VALUES (?, ?)", owner, n)
	return n, err
}

// Drop removes documents from an owner; without paths, all of them.
func (d Documents) Drop(ctx context.Context, owner string, paths ...string) error {
	return d.s.change(ctx, "drop documents", func(t *tx) error {
		if len(paths) == 0 {
			return t.run("DELETE FROM document_owners WHERE owner = ?", owner)
		}
		return t.run("DELETE FROM document_owners WHERE owner = ? AND document IN (SELECT n FROM documents WHERE path IN (SELECT value FROM json_each(?)))", owner, list(paths))
	})
}

// Forget removes all documents and sources of an owner.
func (d Documents) Forget(ctx context.Context, owner string) error {
	return d.s.change(ctx, "drop documents", func(t *tx) error { return t.forgetDocuments(owner) })
}

func (t *tx) forgetDocuments(owner string) error {
	for _, table := range []string{"document_sources", "document_weights"} {
		if err := t.run("DELETE FROM "+table+" WHERE owner = ?", owner); err != nil {
			return err
		}
	}
	return t.run("DELETE FROM document_owners WHERE owner = ?", owner)
}

// ForgetOld calls Forget for the owners with a prefix that have got no source for a time.
func (d Documents) ForgetOld(ctx context.Context, prefix string, age time.Duration) error {
	return d.s.change(ctx, "drop documents", func(t *tx) error {
		old, err := db.AllOf(t.Tx, "SELECT owner FROM document_sources WHERE substr(owner, 1, length(?1)) = ?1 GROUP BY owner HAVING max(added) < ?2",
			[]any{prefix, t.now().Add(-age).UnixNano()}, db.One[string])
		for _, owner := range old {
			if err == nil {
				err = t.forgetDocuments(owner)
			}
		}
		if err != nil {
			return err
		}
		// Rows of a run that was stopped while its owner was removed.
		return t.run(`DELETE FROM document_owners WHERE substr(owner, 1, length(?1)) = ?1
			AND owner NOT IN (SELECT owner FROM document_sources)`, prefix)
	})
}

// Move moves the documents and sources of one owner to another.
func (d Documents) Move(ctx context.Context, from, to string) error {
	if d.private(to) {
		return errors.Join(ErrPrivateDocuments, d.Forget(ctx, from))
	}
	return d.s.change(ctx, "move documents", func(t *tx) error {
		if err := t.copyDocuments(from, to); err != nil {
			return err
		}
		return t.forgetDocuments(from)
	})
}

func (t *tx) copyDocuments(from, to string) error {
	if err := t.run("INSERT OR IGNORE INTO document_sources (owner, source, added) SELECT ?2, source, added FROM document_sources WHERE owner = ?1", from, to); err != nil {
		return err
	}
	if err := t.run("INSERT OR IGNORE INTO document_weights (owner, model, weight, passages) SELECT ?2, model, weight, passages FROM document_weights WHERE owner = ?1", from, to); err != nil {
		return err
	}
	return t.run("INSERT OR IGNORE INTO document_owners (owner, document) SELECT ?2, document FROM document_owners WHERE owner = ?1", from, to)
}

// SessionDocuments returns the owner of what was added to a session.
func SessionDocuments(id string) string { return "session:" + id }

// RoleDocuments returns the owner of a role's documents in a project.
func RoleDocuments(project, name string) string { return "role:" + project + ":" + name }

// Weight is how much a ranking by embeddings of a model counts for an owner's documents, 0 to 1.
type Weight struct {
	Owner    string
	Share    float64
	Passages int // that there were when it was learned
}

// Weights returns what was learned of a model for owners.
func (d Documents) Weights(ctx context.Context, owners []string, model string) ([]Weight, error) {
	return fetch(ctx, d.s, "read weights of embeddings", "SELECT owner, weight, passages FROM document_weights WHERE owner IN (SELECT value FROM json_each(?)) AND model = ?",
		[]any{list(owners), model}, func(scan db.Scan) (w Weight, err error) {
			err = scan(&w.Owner, &w.Share, &w.Passages)
			return w, err
		})
}

// PutWeight keeps what was learned of a model, unless the owner has no documents any more.
func (d Documents) PutWeight(ctx context.Context, w Weight, model string) error {
	return d.s.change(ctx, "keep weights of embeddings", func(t *tx) error {
		var there int
		err := t.Row("SELECT 1 FROM document_owners WHERE owner = ? LIMIT 1", []any{w.Owner}, &there)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return t.run("INSERT OR REPLACE INTO document_weights (owner, model, weight, passages) VALUES (?, ?, ?, ?)", w.Owner, model, w.Share, w.Passages)
	})
}

// Sample returns passages of an owner that have an embedding of a model, from all over its documents; the same ones
// each time.
func (d Documents) Sample(ctx context.Context, owner, model string, limit int) ([]Passage, error) {
	found, err := d.passages(ctx, "SELECT "+passageColumns+` JOIN vectors v ON v.passage = p.n AND v.model = ?2
		WHERE p.document IN (`+ownedBy+") ORDER BY p.n * 7919 % 10007, p.n LIMIT ?3", list([]string{owner}), model, limit)
	return found, wrap("read passages", err)
}
