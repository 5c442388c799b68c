package session

import (
	"context"
	"time"

	"jcode/session/db"
)

// Agent is a sub-agent that works beside a conversation.
type Agent struct {
	Session string // its own session, the key
	Parent  string // the session that it works for
	Project string
	Name    string
	Role    string
	Model   string
	// Dir is its worktree, Branch the branch there, Base the tree that its work began with; ""
	// without a worktree.
	Dir, Branch, Base string
	State             string
	Created           time.Time
}

// Agents keeps the sub-agents in the background.
type Agents struct{ s *Store }

// Agents returns the store's sub-agents.
func (s *Store) Agents() Agents { return Agents{s} }

// Save keeps an agent, in place of one with the same session.
func (as Agents) Save(ctx context.Context, a Agent) error {
	return as.s.changeIn(ctx, a.Parent, "keep agent "+a.Name, func(t *tx) error {
		return t.run(`INSERT OR REPLACE INTO agents (session, parent, project_id, name, role, model, dir, branch, base, state, created)
			VALUES (?,?,?,?,?,?,?,?,?,?,?)`, a.Session, a.Parent, a.Project, a.Name, a.Role, a.Model, a.Dir, a.Branch, a.Base, a.State, toMillis(t.now()))
	})
}

// SetState notes an agent's state.
func (as Agents) SetState(ctx context.Context, sessionID, state string) error {
	return as.s.changeIn(ctx, sessionID, "keep state of agent", func(t *tx) error {
		return t.run("UPDATE agents SET state = ? WHERE session = ?", state, sessionID)
	})
}

// Drop forgets an agent; its session stays.
func (as Agents) Drop(ctx context.Context, sessionID string) error {
	return as.s.changeIn(ctx, sessionID, "drop agent", func(t *tx) error {
		return t.run("DELETE FROM agents WHERE session = ?", sessionID)
	})
}

// List returns the agents that work for a session, or with "" all there are, in the order of
// their start.
func (as Agents) List(ctx context.Context, parent string) ([]Agent, error) {
	s, done := as.s.of(parent)
	defer done()
	all, err := fetch(ctx, s, "list agents", `SELECT session, parent, project_id, name, role, model, dir, branch, base, state, created FROM agents
		WHERE ?1 = '' OR parent = ?1 ORDER BY created, session`, []any{parent}, func(scan db.Scan) (a Agent, err error) {
		err = scan(&a.Session, &a.Parent, &a.Project, &a.Name, &a.Role, &a.Model, &a.Dir, &a.Branch, &a.Base, &a.State, millis{&a.Created})
		return a, err
	})
	if mem := s.Memory().store(); err == nil && mem != nil && parent == "" {
		own, err := mem.Agents().List(ctx, "")
		return append(all, own...), err
	}
	return all, err
}
