package session

import (
	"context"
	"encoding/json"
	"errors"
)

// Todos keeps the plan of each session.
type Todos struct{ s *Store }

// Todos returns the plans of the store's sessions.
func (s *Store) Todos() Todos { return Todos{s} }

// Set stores a session's plan, as JSON that the store doesn't interpret. It returns
// ErrNotFound if there is no such session.
func (p Todos) Set(ctx context.Context, sessionID string, items json.RawMessage) error {
	return p.s.changeIn(ctx, sessionID, "keep plan of session "+sessionID, func(t *tx) error {
		return affected(t.Exec(`INSERT INTO todos (session, items) SELECT n, ? FROM sessions WHERE id = ?
			ON CONFLICT (session) DO UPDATE SET items = excluded.items`, string(items), sessionID))
	})
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
	return items, wrap("plan of session "+sessionID, err)
}
