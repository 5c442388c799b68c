package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	var all []Elsewhere
	ids := make([]any, 0, len(held))
	for id := range held {
		ids = append(ids, id)
	}
	for chunk := range slices.Chunk(ids, 200) {
		marks := strings.TrimSuffix(strings.Repeat("?,", len(chunk)), ",")
		part, err := db.All(ctx, s.db, `SELECT s.id, s.title, s.parent_id, coalesce(a.name, '')
			FROM sessions s LEFT JOIN agents a ON a.session = s.id
			WHERE s.project_id = ? AND s.id IN (`+marks+`) ORDER BY s.used DESC, s.id`, append([]any{projectID}, chunk...),
			func(scan db.Scan) (e Elsewhere, err error) {
				err = scan(&e.Session, &e.Title, &e.Parent, &e.Agent)
				e.PID = held[e.Session]
				return e, err
			})
		if err != nil {
			return nil, fmt.Errorf("look up sessions of other processes: %w", err)
		}
		all = append(all, part...)
	}
	return all, nil
}
