package permissionscli

import (
	"context"
	"fmt"

	"jcode/cli/core"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/permission"
)

// Grants stores the gate's lasting answers.
type Grants struct {
	Stored  session.Grants
	Project string
	// Private reports whether nothing lasting may be stored now.
	Private func() bool
}

// Grants returns the grants that apply to a session: its own and the project's.
func (g Grants) Grants(ctx context.Context, sessionID string) ([]permission.Grant, error) {
	rows, err := g.Stored.List(ctx, sessionID, g.Project)
	if err != nil {
		return nil, err
	}
	out := make([]permission.Grant, len(rows))
	for i, r := range rows {
		out[i] = permission.Grant{ID: r.ID, Rule: r.Key, Hash: r.Hash, Scope: tools.AnswerProject, Session: r.Session, Created: r.Created}
		if r.Scope == session.GrantSession {
			out[i].Scope = tools.AnswerSession
		}
	}
	return out, nil
}

// Add stores a grant for its session or for the project.
func (g Grants) Add(ctx context.Context, p permission.Grant) error {
	if p.Scope != tools.AnswerSession && g.Private() {
		return fmt.Errorf("%w: the answer can only apply to this conversation", core.ErrPrivate)
	}
	row := session.Grant{Key: p.Rule, Hash: p.Hash, Scope: session.GrantProject, Project: g.Project}
	if p.Scope == tools.AnswerSession {
		row.Scope, row.Session = session.GrantSession, p.Session
	}
	_, err := g.Stored.Add(ctx, row)
	return err
}

// Revoke removes a grant.
func (g Grants) Revoke(ctx context.Context, id int64) error { return g.Stored.Revoke(ctx, id) }
