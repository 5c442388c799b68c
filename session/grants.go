package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jcode/session/db"
)

// GrantScope says where a grant applies.
type GrantScope string

// The scopes of grants.
const (
	GrantSession GrantScope = "session"
	GrantProject GrantScope = "project"
	GrantGlobal  GrantScope = "global"
)

// Grant is a person's lasting permission.
type Grant struct {
	ID      int64
	Key     string // what is allowed, as a rule: "exec(go test)"
	Scope   GrantScope
	Session string // for GrantSession
	Project string // for GrantProject
	Hash    string // of what was approved; if that changes, the grant is void. "" = not pinned
	Created time.Time
}

// Grants keeps the lasting permissions.
type Grants struct{ s *Store }

// Grants returns the store's grants.
func (s *Store) Grants() Grants { return Grants{s} }

// Add keeps a grant and returns its ID. Adding an equal one again changes nothing.
func (gs Grants) Add(ctx context.Context, g Grant) (int64, error) {
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
	var id int64
	err := gs.s.changeIn(ctx, g.Session, "add grant "+g.Key, func(t *tx) error {
		if err := t.run(`INSERT INTO grants (key, scope, session_id, project_id, hash, created) VALUES (?,?,?,?,?,?)
			ON CONFLICT DO NOTHING`, g.Key, g.Scope, g.Session, g.Project, g.Hash, toMillis(t.now())); err != nil {
			return err
		}
		err := t.Row("SELECT id FROM grants WHERE key = ? AND scope = ? AND session_id = ? AND project_id = ? AND hash = ?",
			[]any{g.Key, g.Scope, g.Session, g.Project, g.Hash}, &id)
		if t.s.inMemory() {
			id = -id // grants of the file have IDs above 0
		}
		return err
	})
	return id, err
}

// List returns the grants that apply to a session in a project, oldest first: its own, the
// project's, and the global ones. An empty argument leaves its scope out.
func (gs Grants) List(ctx context.Context, sessionID, projectID string) ([]Grant, error) {
	s := gs.s
	all, err := fetch(ctx, s, "list grants", `SELECT id, key, scope, session_id, project_id, hash, created FROM grants
		WHERE scope = 'global' OR (scope = 'project' AND project_id = ?) OR (scope = 'session' AND session_id = ?) ORDER BY id`,
		[]any{projectID, sessionID}, func(scan db.Scan) (g Grant, err error) {
			err = scan(&g.ID, &g.Key, &g.Scope, &g.Session, &g.Project, &g.Hash, millis{&g.Created})
			if s.inMemory() {
				g.ID = -g.ID
			}
			return g, err
		})
	if err != nil || !s.Memory().Has(sessionID) {
		return all, err
	}
	own, err := s.Memory().store().Grants().List(ctx, sessionID, "")
	return append(all, own...), err
}

// Revoke removes a grant. It returns ErrNotFound if there is none with the ID.
func (gs Grants) Revoke(ctx context.Context, id int64) error {
	s := gs.s
	if mem := s.Memory().store(); mem != nil && id < 0 {
		s, id = mem, -id
	}
	return s.change(ctx, fmt.Sprintf("revoke grant %d", id), func(t *tx) error { return affected(t.Exec("DELETE FROM grants WHERE id = ?", id)) })
}
