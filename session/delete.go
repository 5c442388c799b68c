package session

import (
	"context"
	"fmt"
)

// Delete deletes a session with everything that belongs to it, and its sub-agents' sessions.
func (s *Store) Delete(ctx context.Context, id string) error {
	s, done := s.of(id)
	defer done()
	err := s.write(ctx, func(t *tx) error {
		n, err := t.key(id)
		if err != nil {
			return err
		}
		if err := t.deleteTree(n, id); err != nil {
			return err
		}
		return t.sweepBlobs(s.now())
	})
	if err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return nil
}

func (t *tx) deleteTree(n int64, id string) error {
	type child struct {
		n  int64
		id string
	}
	var children []child
	err := t.Each("SELECT n, id FROM sessions WHERE parent_id = ? AND kind = ?", []any{id, KindTask}, func(scan func(...any) error) error {
		var c child
		err := scan(&c.n, &c.id)
		children = append(children, c)
		return err
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
		if _, err := t.Exec(q.sql, q.arg); err != nil {
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
