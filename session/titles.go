package session

import (
	"context"
	"fmt"
	"strings"

	"jcode/internal/text"
	"jcode/session/words"
)

// Rename sets a session's title for the person. Automatic titles never replace it.
func (s *Store) Rename(ctx context.Context, id, title string) error {
	_, err := s.setTitle(ctx, id, title, TitleUser)
	return err
}

// SetAutoTitle sets an automatic title unless the person has named the session, and reports
// whether it did.
func (s *Store) SetAutoTitle(ctx context.Context, id, title string) (bool, error) {
	return s.setTitle(ctx, id, title, TitleAuto)
}

func (s *Store) setTitle(ctx context.Context, id, title, source string) (bool, error) {
	title = ShortTitle(title)
	if title == "" {
		return false, fmt.Errorf("rename session %s: the title is empty", id)
	}
	done := false
	err := s.changeIn(ctx, id, "rename session "+id, func(t *tx) error {
		var n int64
		var old, oldSource string
		if err := t.Row("SELECT n, title, title_source FROM sessions WHERE id = ?", []any{id}, &n, &old, &oldSource); err != nil {
			return err
		}
		if source == TitleAuto && oldSource == TitleUser {
			return nil
		}
		done = true
		return t.title(n, title, source)
	})
	if err != nil {
		return false, err
	}
	return done, nil
}

func (t *tx) title(n int64, title, source string) error {
	if err := t.run("UPDATE sessions SET title = ?, title_source = ? WHERE n = ?", title, source, n); err != nil {
		return err
	}
	return t.index(n<<seqBits, title)
}

// titleCells is how wide a title is at most, in terminal cells.
const titleCells = 80

// ShortTitle returns a title of one line for any text: its first line with a letter or digit,
// with white space folded and terminal control sequences removed, at most 80 cells wide.
func ShortTitle(s string) string {
	s = text.Clean(text.Cut(s, 16<<10)) // a title is near the beginning
	line := ""
	for l := range strings.Lines(s) {
		if strings.ContainsFunc(l, words.Searchable) {
			line = l
			break
		}
		if strings.TrimSpace(line) == "" {
			line = l
		}
	}
	return text.Truncate(strings.Join(strings.Fields(text.Cut(line, 1<<10)), " "), titleCells, "…")
}
