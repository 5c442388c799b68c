package session

import (
	"context"
	"errors"
	"fmt"
)

// Drafts keeps what is typed but not sent.
type Drafts struct{ s *Store }

// Drafts returns the store's drafts.
func (s *Store) Drafts() Drafts { return Drafts{s} }

// Set keeps what is typed but not sent, under a session's ID or any other key. An
// empty text deletes it. Deleted and replaced text is overwritten with zeros in the database,
// but not in its log: see Erase.
func (d Drafts) Set(ctx context.Context, key, text string) error {
	return d.s.change(ctx, "keep draft", func(t *tx) error { return t.setDraft(key, text) })
}

func (t *tx) setDraft(key, text string) (err error) {
	if err := t.run("PRAGMA secure_delete = ON"); err != nil {
		return err
	}
	defer func() {
		_, offErr := t.Exec("PRAGMA secure_delete = OFF")
		err = errors.Join(err, offErr)
	}()
	if text == "" {
		return t.run("DELETE FROM drafts WHERE key = ?", key)
	}
	return t.run(`INSERT INTO drafts (key, text, at) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET text = excluded.text, at = excluded.at`, key, text, toMillis(t.now()))
}

// Erase deletes drafts and empties the database's log, so that nothing of them is left on
// the disk. While another process reads from the log, it stays; it is emptied when that
// process ends.
func (d Drafts) Erase(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if err := d.Set(ctx, key, ""); err != nil {
			return err
		}
	}
	return d.s.db.EmptyLog(ctx)
}

// Get returns the draft of a key, empty if there is none.
func (d Drafts) Get(ctx context.Context, key string) (string, error) {
	var text string
	err := d.s.db.Row(ctx, "SELECT text FROM drafts WHERE key = ?", []any{key}, &text)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return "", fmt.Errorf("read draft: %w", err)
	}
	return text, nil
}
