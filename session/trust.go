package session

import (
	"context"
	"time"

	"jcode/session/db"
)

// Trust is a person's approval of one version of a thing in a project that can run code.
type Trust struct {
	Project string
	Kind    string // "mcp", "lua", "command", "config", …
	Name    string
	Hash    string // of what was shown
	Created time.Time
}

// Trusts keeps what a person trusts in projects.
type Trusts struct{ s *Store }

// Trusts returns the store's rows of trust.
func (s *Store) Trusts() Trusts { return Trusts{s} }

// Add keeps rows of trust, all or none.
func (ts Trusts) Add(ctx context.Context, rows ...Trust) error {
	return ts.s.change(ctx, "keep trust", func(t *tx) error {
		for _, r := range rows {
			if err := t.run(`INSERT INTO trust (project_id, kind, name, hash, created) VALUES (?,?,?,?,?) ON CONFLICT DO NOTHING`,
				r.Project, r.Kind, r.Name, r.Hash, toMillis(t.now())); err != nil {
				return err
			}
		}
		return nil
	})
}

// Remove removes a project's rows of a kind and name, of all versions, and reports how many there were.
func (ts Trusts) Remove(ctx context.Context, projectID, kind, name string) (n int64, err error) {
	err = ts.s.change(ctx, "revoke trust", func(t *tx) error {
		n, err = changedRows(t.Exec("DELETE FROM trust WHERE project_id = ? AND kind = ? AND name = ?", projectID, kind, name))
		return err
	})
	return n, err
}

// List returns a project's rows of trust.
func (ts Trusts) List(ctx context.Context, projectID string) ([]Trust, error) {
	return fetch(ctx, ts.s, "list trust", "SELECT project_id, kind, name, hash, created FROM trust WHERE project_id = ? ORDER BY kind, name, created",
		[]any{projectID}, func(scan db.Scan) (r Trust, err error) {
			err = scan(&r.Project, &r.Kind, &r.Name, &r.Hash, millis{&r.Created})
			return r, err
		})
}
