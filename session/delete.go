package session

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

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

// tree returns the IDs of a session and of its sub-agents' sessions, parents first.
func (s *Store) tree(ctx context.Context, id string) ([]string, error) {
	if _, err := s.Get(ctx, id); err != nil {
		return nil, err
	}
	all := []string{id}
	for i := 0; i < len(all); i++ {
		children, err := db.All(ctx, s.db, "SELECT id FROM sessions WHERE parent_id = ? AND kind = ?", []any{all[i], KindTask}, db.One[string])
		if err != nil {
			return nil, err
		}
		for _, child := range children {
			if !slices.Contains(all, child) { // a cycle of parents must end
				all = append(all, child)
			}
		}
	}
	return all, nil
}

// Alone returns the names that read finds in what is shown of the results of a session and of its sub-agents, and
// in nothing that is shown of another session's. A copy of a session shares the names with it.
func (s *Store) Alone(ctx context.Context, id string, read func(display json.RawMessage) []string) ([]string, error) {
	s, done := s.of(id)
	defer done()
	tree, err := s.tree(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("what session %s names: %w", id, err)
	}
	names := map[string]bool{}
	keys := map[int64]bool{}
	for _, id := range tree {
		var n int64
		if err := s.db.Row(ctx, selectKey, []any{id}, &n); err != nil {
			return nil, fmt.Errorf("what session %s names: %w", id, err)
		}
		keys[n] = true
		if err := s.displays(ctx, n<<seqBits, (n+1)<<seqBits, func(_ int64, display json.RawMessage) {
			for _, name := range read(display) {
				names[name] = true
			}
		}); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 {
		return nil, nil // the results of all other sessions need not be read
	}
	err = s.displays(ctx, 0, math.MaxInt64, func(message int64, display json.RawMessage) {
		if keys[message>>seqBits] {
			return
		}
		for _, name := range read(display) {
			delete(names, name)
		}
	})
	return slices.Sorted(maps.Keys(names)), err
}

// displays calls fn with what is shown of the results between two messages.
func (s *Store) displays(ctx context.Context, low, high int64, fn func(message int64, display json.RawMessage)) error {
	err := s.db.Each(ctx, "SELECT message, display FROM tool_calls WHERE message > ? AND message < ? AND display <> ''", []any{low, high}, func(scan db.Scan) error {
		var message int64
		var display sql.RawBytes
		if err := scan(&message, &display); err != nil {
			return err
		}
		if json.Valid(display) {
			fn(message, json.RawMessage(display))
		}
		return nil
	})
	return wrap("read what results show", err)
}
