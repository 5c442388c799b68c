package permission

import (
	"context"
	"time"

	"jcode/tools"
)

// Grant is a person's lasting yes. Its rule is exact: it fits what was shown and nothing
// that merely begins alike.
type Grant struct {
	// ID is the store's, for Revoke.
	ID int64
	// Rule is what is allowed, as a person reads it.
	Rule string
	// Hash pins the grant to what was seen (source of a Lua tool, target of a server): it
	// is void when that changes. Empty for what has no hash.
	Hash string
	// Scope is AnswerSession or AnswerProject.
	Scope tools.AnswerScope
	// Session is set for AnswerSession.
	Session string
	Created time.Time
}

// GrantStore keeps grants of one project. It must be safe for concurrent use.
type GrantStore interface {
	// Grants returns what holds for a session: its own grants and the project's.
	Grants(ctx context.Context, session string) ([]Grant, error)
	// Add keeps a grant. Adding an equal one again is no error.
	Add(ctx context.Context, g Grant) error
	// Revoke takes a grant back.
	Revoke(ctx context.Context, id int64) error
}

// allowance is something that allows: a rule of the configuration, a rule that holds for
// a while, or a grant.
type allowance struct {
	rule Rule
	hash string
	by   tools.DecidedBy
}

// fits reports whether an allowance holds for something with this hash: rules that a
// person wrote always do, grants only for what was seen.
func (a allowance) fits(hash string) bool { return a.by == tools.ByRule || a.hash == hash }

// MemoryGrants keeps grants as long as the process lives: for runs without a session
// store, and for tests. The zero value is ready.
type MemoryGrants struct{ list guarded[[]Grant] }

// Grants implements GrantStore.
func (m *MemoryGrants) Grants(_ context.Context, session string) ([]Grant, error) {
	var out []Grant
	m.list.with(func(all *[]Grant) {
		for _, g := range *all {
			if g.Scope == tools.AnswerProject || g.Session == session {
				out = append(out, g)
			}
		}
	})
	return out, nil
}

// Add implements GrantStore.
func (m *MemoryGrants) Add(_ context.Context, g Grant) error {
	m.list.with(func(all *[]Grant) {
		for _, old := range *all {
			if old.Rule == g.Rule && old.Hash == g.Hash && old.Scope == g.Scope && old.Session == g.Session {
				return
			}
		}
		g.ID = 1
		for _, old := range *all {
			g.ID = max(g.ID, old.ID+1)
		}
		*all = append(*all, g)
	})
	return nil
}

// Revoke implements GrantStore.
func (m *MemoryGrants) Revoke(_ context.Context, id int64) error {
	m.list.with(func(all *[]Grant) {
		kept := make([]Grant, 0, len(*all))
		for _, g := range *all {
			if g.ID != id {
				kept = append(kept, g)
			}
		}
		*all = kept
	})
	return nil
}
