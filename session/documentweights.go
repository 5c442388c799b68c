package session

import (
	"context"
	"errors"

	"jcode/session/db"
)

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
