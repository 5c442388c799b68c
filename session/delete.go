package session

import (
	"context"

	"jcode/session/db"
)

// Delete deletes a session with everything that belongs to it, and its sub-agents' sessions.
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.changeIn(ctx, id, "delete session "+id, func(t *tx) error {
		n, err := t.key(id)
		if err != nil {
			return err
		}
		if err := t.deleteTree(n, id); err != nil {
			return err
		}
		return t.sweepBlobs()
	})
}

func (t *tx) deleteTree(n int64, id string) error {
	type child struct {
		n  int64
		id string
	}
	children, err := db.AllOf(t.Tx, "SELECT n, id FROM sessions WHERE parent_id = ? AND kind = ?", []any{id, KindTask}, func(scan db.Scan) (c child, err error) {
		err = scan(&c.n, &c.id)
		return c, err
	})
	if err != nil {
		return err
	}
	// The row is deleted first, so that a cycle of parents ends.
	for _, q := range []struct {
		sql string
		arg any
	}{
		{"DELETE FROM search WHERE rowid >= ?1 << 24 AND rowid < (?1 + 1) << 24", n},
		{"DELETE FROM drafts WHERE key = ?", id},
		{"DELETE FROM edits WHERE session = ?", id},
		{"DELETE FROM claims WHERE session = ?", id},
		{"DELETE FROM grants WHERE scope = 'session' AND session_id = ?", id},
		{"DELETE FROM sessions WHERE n = ?", n},
	} {
		if err := t.run(q.sql, q.arg); err != nil {
			return err
		}
	}
	for _, c := range children {
		if err := t.deleteTree(c.n, c.id); err != nil {
			return err
		}
	}
	return nil
}
