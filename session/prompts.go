package session

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// keptPrompts bounds the prompt history of one project.
const keptPrompts = 2000

// Prompt is one entry of the prompt history.
type Prompt struct {
	Project string
	Cwd     string
	Text    string
	At      time.Time
}

// AddPrompt puts a prompt at the end of its project's history. An equal one moves there.
func (s *Store) AddPrompt(ctx context.Context, p Prompt) error {
	if strings.TrimSpace(p.Text) == "" {
		return nil
	}
	err := s.write(ctx, func(t *tx) error {
		if _, err := t.Exec("DELETE FROM prompt_history WHERE project_id = ? AND text = ?", p.Project, p.Text); err != nil {
			return err
		}
		if _, err := t.Exec("INSERT INTO prompt_history (project_id, cwd, text, at) VALUES (?,?,?,?)",
			p.Project, p.Cwd, p.Text, toMillis(s.now())); err != nil {
			return err
		}
		_, err := t.Exec(`DELETE FROM prompt_history WHERE project_id = ?1 AND id <=
			(SELECT id FROM prompt_history WHERE project_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`, p.Project, keptPrompts)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep prompt: %w", err)
	}
	return nil
}

// RecentPrompts gives a project's prompts, newest first, at most limit (0 = all).
func (s *Store) RecentPrompts(ctx context.Context, projectID string, limit int) ([]Prompt, error) {
	return s.SearchPrompts(ctx, projectID, "", limit)
}

// SearchPrompts gives the project's prompts that contain the text, whatever its case,
// newest first. An empty project means all projects.
func (s *Store) SearchPrompts(ctx context.Context, projectID, text string, limit int) ([]Prompt, error) {
	if limit <= 0 {
		limit = -1
	}
	var all []Prompt
	err := s.db.Each(ctx, `SELECT project_id, cwd, text, at FROM prompt_history
		WHERE (?1 = '' OR project_id = ?1) AND (?2 = '%%' OR text LIKE ?2 ESCAPE '\') ORDER BY id DESC LIMIT ?3`,
		[]any{projectID, contains(text), limit}, func(scan func(...any) error) error {
			var p Prompt
			var at int64
			err := scan(&p.Project, &p.Cwd, &p.Text, &at)
			p.At = fromMillis(at)
			all = append(all, p)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("search prompts: %w", err)
	}
	return all, nil
}
