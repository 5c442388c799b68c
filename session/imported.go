package session

import (
	"context"
	"time"
)

// Imported says that a session came from another program, where it was last used at a time: it takes no place among
// those that were used here.
func (s *Store) Imported(ctx context.Context, id string, at time.Time) error {
	return s.changeIn(ctx, id, "date session "+id, func(t *tx) error {
		return affected(t.Exec("UPDATE sessions SET updated = ?, used = 0 WHERE id = ?", toMillis(at), id))
	})
}
