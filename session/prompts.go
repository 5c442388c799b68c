package session

import (
	"context"
	"strings"
	"time"

	"jcode/session/db"
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

// Prompts keeps the prompt history of each project.
type Prompts struct{ s *Store }

// Prompts returns the store's prompt history.
func (s *Store) Prompts() Prompts { return Prompts{s} }

// Add puts a prompt at the end of its project's history. An equal one is moved there.
func (ps Prompts) Add(ctx context.Context, p Prompt) error {
	if strings.TrimSpace(p.Text) == "" {
		return nil
	}
	return ps.s.change(ctx, "keep prompt", func(t *tx) error {
		if err := t.run("DELETE FROM prompt_history WHERE project_id = ? AND text = ?", p.Project, p.Text); err != nil {
			return err
		}
		if err := t.run("INSERT INTO prompt_history (project_id, cwd, text, at) VALUES (?,?,?,?)",
			p.Project, p.Cwd, p.Text, toMillis(t.now())); err != nil {
			return err
		}
		return t.run(`DELETE FROM prompt_history WHERE project_id = ?1 AND id <=
			(SELECT id FROM prompt_history WHERE project_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`, p.Project, keptPrompts)
	})
}

// Recent returns a project's prompts, newest first, at most limit (0 = all).
func (ps Prompts) Recent(ctx context.Context, projectID string, limit int) ([]Prompt, error) {
	return ps.Search(ctx, projectID, "", limit)
}

// Search returns the project's prompts that contain the text, whatever its case, newest
// first. An empty project means all projects.
func (ps Prompts) Search(ctx context.Context, projectID, text string, limit int) ([]Prompt, error) {
	if limit <= 0 {
		limit = -1
	}
	return fetch(ctx, ps.s, "search prompts", `SELECT project_id, cwd, text, at FROM prompt_history
		WHERE (?1 = '' OR project_id = ?1) AND (?2 = '%%' OR text LIKE ?2 ESCAPE '\') ORDER BY id DESC LIMIT ?3`,
		[]any{projectID, contains(text), limit}, func(scan db.Scan) (p Prompt, err error) {
			err = scan(&p.Project, &p.Cwd, &p.Text, millis{&p.At})
			return p, err
		})
}
