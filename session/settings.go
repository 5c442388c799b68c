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
		return affected(t.Exec(`INSERT INTO todos (session, items) SELECT n, ? FROM sessions WHERE id = ?
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
	err := s.db.Row(ctx, "SELECT t.items FROM todos t JOIN sessions s ON s.n = t.session WHERE s.id = ?", []any{sessionID}, &items)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("plan of session %s: %w", sessionID, err)
	}
	return items, nil
}

// SetDraft keeps what is typed but not sent, under a session's ID or any other key. An
// empty text forgets it. What is replaced or forgotten is overwritten with zeros in the
// database, but not in its log: see EraseDrafts.
func (s *Store) SetDraft(ctx context.Context, key, text string) error {
	err := s.write(ctx, func(t *tx) error { return t.setDraft(key, text, toMillis(s.now())) })
	if err != nil {
		return fmt.Errorf("keep draft: %w", err)
	}
	return nil
}

func (t *tx) setDraft(key, text string, at int64) (err error) {
	if _, err := t.Exec("PRAGMA secure_delete = ON"); err != nil {
		return err
	}
	defer func() {
		_, offErr := t.Exec("PRAGMA secure_delete = OFF")
		err = errors.Join(err, offErr)
	}()
	if text == "" {
		_, err := t.Exec("DELETE FROM drafts WHERE key = ?", key)
		return err
	}
	_, err = t.Exec(`INSERT INTO drafts (key, text, at) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET text = excluded.text, at = excluded.at`, key, text, at)
	return err
}

// EraseDrafts forgets drafts and empties the database's log, so that nothing of them is left on
// the disk. The log stays while another process reads from it; it is emptied when that ends.
func (s *Store) EraseDrafts(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if err := s.SetDraft(ctx, key, ""); err != nil {
			return err
		}
	}
	return s.db.EmptyLog(ctx)
}

// Draft gives what SetDraft kept, empty if nothing.
func (s *Store) Draft(ctx context.Context, key string) (string, error) {
	var text string
	err := s.db.Row(ctx, "SELECT text FROM drafts WHERE key = ?", []any{key}, &text)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return "", fmt.Errorf("read draft: %w", err)
	}
	return text, nil
}
