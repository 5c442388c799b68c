package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Todos keeps the plan of each session.
type Todos struct{ s *Store }

// Todos returns the plans of the store's sessions.
func (s *Store) Todos() Todos { return Todos{s} }

// Set stores a session's plan, as JSON that the store doesn't interpret. It returns
// ErrNotFound if there is no such session.
func (p Todos) Set(ctx context.Context, sessionID string, items json.RawMessage) error {
	s, done := p.s.of(sessionID)
	defer done()
	err := s.write(ctx, func(t *tx) error {
		return affected(t.Exec(`INSERT INTO todos (session, items) SELECT n, ? FROM sessions WHERE id = ?
			ON CONFLICT (session) DO UPDATE SET items = excluded.items`, string(items), sessionID))
	})
	if err != nil {
		return fmt.Errorf("keep plan of session %s: %w", sessionID, err)
	}
	return nil
}

// Get returns a session's plan, nil if it has none.
func (p Todos) Get(ctx context.Context, sessionID string) (json.RawMessage, error) {
	s, done := p.s.of(sessionID)
	defer done()
	var items []byte
	err := s.db.Row(ctx, "SELECT t.items FROM todos t JOIN sessions s ON s.n = t.session WHERE s.id = ?", []any{sessionID}, &items)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("plan of session %s: %w", sessionID, err)
	}
	return items, nil
}
