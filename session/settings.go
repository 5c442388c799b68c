package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// SetTodo keeps a session's plan, as JSON that the store doesn't look into.
func (s *Store) SetTodo(ctx context.Context, sessionID string, items json.RawMessage) error {
	s, done := s.of(sessionID)
	defer done()
	err := s.write(ctx, func(t *tx) error {
		return affected(t.exec(`INSERT INTO todos (session, items) SELECT n, ? FROM sessions WHERE id = ?
			ON CONFLICT (session) DO UPDATE SET items = excluded.items`, string(items), sessionID))
	})
	if err != nil {
		return fmt.Errorf("keep plan of session %s: %w", sessionID, err)
	}
	return nil
}

// Todo gives a session's plan, nil if it has none.
func (s *Store) Todo(ctx context.Context, sessionID string) (json.RawMessage, error) {
	s, done := s.of(sessionID)
	defer done()
	var items []byte
	err := s.readRow(ctx, "SELECT t.items FROM todos t JOIN sessions s ON s.n = t.session WHERE s.id = ?", []any{sessionID}, &items)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("plan of session %s: %w", sessionID, err)
	}
	return items, nil
}

// SetDraft keeps what is typed but not sent, under a session's ID or any other key. An
// empty text forgets it.
func (s *Store) SetDraft(ctx context.Context, key, text string) error {
	err := s.write(ctx, func(t *tx) error {
		if text == "" {
			_, err := t.exec("DELETE FROM drafts WHERE key = ?", key)
			return err
		}
		_, err := t.exec(`INSERT INTO drafts (key, text, at) VALUES (?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET text = excluded.text, at = excluded.at`, key, text, toMillis(s.now()))
		return err
	})
	if err != nil {
		return fmt.Errorf("keep draft: %w", err)
	}
	return nil
}

// Draft gives what SetDraft kept, empty if nothing.
func (s *Store) Draft(ctx context.Context, key string) (string, error) {
	var text string
	err := s.readRow(ctx, "SELECT text FROM drafts WHERE key = ?", []any{key}, &text)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return "", fmt.Errorf("read draft: %w", err)
	}
	return text, nil
}
