package editorscli

import (
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
)

// begunSessions remembers the sessions that an editor has begun and that have no prompt yet. They are not stored, but the
// editor may open them again.
type begunSessions struct{ data string }

const (
	begunFolder = "begun"
	// begunLimit is how long such a session is remembered.
	begunLimit = 30 * 24 * time.Hour
)

// path returns the file of a session, "" for what can't be an ID.
func (b begunSessions) path(id string) string {
	if _, err := uuid.Parse(id); err != nil {
		return ""
	}
	return filepath.Join(b.data, begunFolder, id)
}

func (b begunSessions) has(id string) bool {
	path := b.path(id)
	if path == "" {
		return false
	}
	_, err := os.Stat(path)
	return err == nil
}

// add remembers a session, and forgets those that are too old.
func (b begunSessions) add(id string) error {
	dir := filepath.Join(b.data, begunFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	old, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range old {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > begunLimit {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next one tries again
		}
	}
	return os.WriteFile(b.path(id), nil, 0o600)
}

// drop forgets a session. A file that stays is forgotten later.
func (b begunSessions) drop(id string) {
	if path := b.path(id); path != "" {
		_ = os.Remove(path)
	}
}
