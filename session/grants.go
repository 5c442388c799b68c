package session

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// GrantScope says where a grant holds.
type GrantScope string

// The scopes of grants.
const (
	GrantSession GrantScope = "session"
	GrantProject GrantScope = "project"
	GrantGlobal  GrantScope = "global"
)

// Grant is a person's lasting yes.
type Grant struct {
	ID      int64
	Key     string // what is allowed, as a rule: "exec(go test)"
	Scope   GrantScope
	Session string // for GrantSession
	Project string // for GrantProject
	Hash    string // what it was given for: void when that changes; "" = not pinned
	Created time.Time
}

// AddGrant keeps a grant and gives its ID. Adding an equal one again changes nothing.
func (s *Store) AddGrant(ctx context.Context, g Grant) (int64, error) {
	switch g.Scope {
	case GrantSession:
		g.Project = ""
		if g.Session == "" {
			return 0, errors.New("add grant: a session grant needs its session")
		}
	case GrantProject:
		g.Session = ""
		if g.Project == "" {
			return 0, errors.New("add grant: a project grant needs its project")
		}
	case GrantGlobal:
		g.Session, g.Project = "", ""
	default:
		return 0, fmt.Errorf("add grant: unknown scope %q", g.Scope)
	}
	s, done := s.of(g.Session)
	defer done()
	var id int64
	err := s.write(ctx, func(t *tx) error {
		if _, err := t.Exec(`INSERT INTO grants (key, scope, session_id, project_id, hash, created) VALUES (?,?,?,?,?,?)
			ON CONFLICT DO NOTHING`, g.Key, g.Scope, g.Session, g.Project, g.Hash, toMillis(s.now())); err != nil {
			return err
		}
		return t.Row("SELECT id FROM grants WHERE key = ? AND scope = ? AND session_id = ? AND project_id = ? AND hash = ?",
			[]any{g.Key, g.Scope, g.Session, g.Project, g.Hash}, &id)
	})
	if err != nil {
		return 0, fmt.Errorf("add grant %s: %w", g.Key, err)
	}
	if s.ids != nil {
		id = -id // those of the file are above 0
	}
	return id, nil
}

// Grants gives what holds for a session in a project, oldest first: its own grants, the
// project's, and the global ones. Empty arguments leave their kind out.
func (s *Store) Grants(ctx context.Context, sessionID, projectID string) ([]Grant, error) {
	var all []Grant
	err := s.db.Each(ctx, `SELECT id, key, scope, session_id, project_id, hash, created FROM grants
		WHERE scope = 'global' OR (scope = 'project' AND project_id = ?) OR (scope = 'session' AND session_id = ?) ORDER BY id`,
		[]any{projectID, sessionID}, func(scan func(...any) error) error {
			var g Grant
			var created int64
			err := scan(&g.ID, &g.Key, &g.Scope, &g.Session, &g.Project, &g.Hash, &created)
			g.Created = fromMillis(created)
			if s.ids != nil {
				g.ID = -g.ID
			}
			all = append(all, g)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("list grants: %w", err)
	}
	if s.InMemory(sessionID) {
		own, err := s.memory().Grants(ctx, sessionID, "")
		return append(all, own...), err
	}
	return all, nil
}

// RevokeGrant removes a grant, or gives ErrNotFound.
func (s *Store) RevokeGrant(ctx context.Context, id int64) error {
	if mem := s.memory(); mem != nil && id < 0 {
		s, id = mem, -id
	}
	err := s.write(ctx, func(t *tx) error { return affected(t.Exec("DELETE FROM grants WHERE id = ?", id)) })
	if err != nil {
		return fmt.Errorf("revoke grant %d: %w", id, err)
	}
	return nil
}

// Trust is a person's yes to one thing of a project that can run code, as it was.
type Trust struct {
	Project string
	Kind    string // "mcp", "lua", "command", "config", …
	Name    string
	Hash    string // of what was shown
	Created time.Time
}

// AddTrust keeps rows of trust, all or none.
func (s *Store) AddTrust(ctx context.Context, rows ...Trust) error {
	err := s.write(ctx, func(t *tx) error {
		for _, r := range rows {
			if _, err := t.Exec(`INSERT INTO trust (project_id, kind, name, hash, created) VALUES (?,?,?,?,?) ON CONFLICT DO NOTHING`,
				r.Project, r.Kind, r.Name, r.Hash, toMillis(s.now())); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep trust: %w", err)
	}
	return nil
}

// Trusted gives a project's rows of trust.
func (s *Store) Trusted(ctx context.Context, projectID string) ([]Trust, error) {
	var all []Trust
	err := s.db.Each(ctx, "SELECT project_id, kind, name, hash, created FROM trust WHERE project_id = ? ORDER BY kind, name, created",
		[]any{projectID}, func(scan func(...any) error) error {
			var r Trust
			var created int64
			err := scan(&r.Project, &r.Kind, &r.Name, &r.Hash, &created)
			r.Created = fromMillis(created)
			all = append(all, r)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("list trust: %w", err)
	}
	return all, nil
}

// RevokeTrust forgets a project's trust: of one name, or all of a kind ("" = any name), or
// everything ("" and "").
func (s *Store) RevokeTrust(ctx context.Context, projectID, kind, name string) error {
	err := s.write(ctx, func(t *tx) error {
		_, err := t.Exec("DELETE FROM trust WHERE project_id = ?1 AND (?2 = '' OR kind = ?2) AND (?3 = '' OR name = ?3)", projectID, kind, name)
		return err
	})
	if err != nil {
		return fmt.Errorf("revoke trust: %w", err)
	}
	return nil
}
