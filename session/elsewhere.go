package session

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"jcode/session/db"
)

// Elsewhere is a session that another live process works with.
type Elsewhere struct {
	Editor
	PID int
}

// Elsewhere returns the sessions of a project that other live processes hold, the most recently
// used first.
func (s *Store) Elsewhere(ctx context.Context, projectID string) ([]Elsewhere, error) {
	held, err := s.db.HeldElsewhere()
	if err != nil {
		return nil, fmt.Errorf("look up sessions of other processes: %w", err)
	}
	if len(held) == 0 {
		return nil, nil
	}
	return fetch(ctx, s, "look up sessions of other processes", `SELECT s.id, s.title, s.parent_id, coalesce(a.name, '')
		FROM sessions s LEFT JOIN agents a ON a.session = s.id
		WHERE s.project_id = ? AND s.id IN (SELECT value FROM json_each(?)) ORDER BY s.used DESC, s.id`,
		[]any{projectID, list(slices.Collect(maps.Keys(held)))}, func(scan db.Scan) (e Elsewhere, err error) {
			err = scan(&e.Session, &e.Title, &e.Parent, &e.Agent)
			e.PID = held[e.Session]
			return e, err
		})
}
