package permission

import (
	"context"
	"slices"
	"time"

	"jcode/tools"
)

// Grant is a person's lasting yes. Its rule is exact: it matches what was shown, and not everything that
// begins in the same way.
type Grant struct {
	// ID is assigned by the store, for Revoke.
	ID int64
	// Rule is what is allowed, in the form that a person reads.
	Rule string
	// Hash pins the grant to what was seen (source of a Lua tool, target of a server): the grant is void when
	// that changes. Empty for anything without a hash.
	Hash string
	// Scope is AnswerSession or AnswerProject.
	Scope tools.AnswerScope
	// Session is set for AnswerSession.
	Session string
	Created time.Time
}

// GrantStore stores the grants of one project. It must be safe for concurrent use.
type GrantStore interface {
	// Grants returns the grants that apply to a session: its own and the project's.
	Grants(ctx context.Context, session string) ([]Grant, error)
	// Add stores a grant. Adding an equal one again is not an error.
	Add(ctx context.Context, g Grant) error
	// Revoke removes a grant.
	Revoke(ctx context.Context, id int64) error
}

// allowance is anything that allows an access: a configured rule, a temporary rule, or a grant.
type allowance struct {
	rule Rule
	hash string
	by   tools.DecidedBy
	// borrowed says that the rule is a skill's or a command file's, for a time.
	borrowed bool
}

// fits reports whether an allowance applies to something with this hash: rules that a person wrote always do,
// grants only to what was seen.
func (a allowance) fits(hash string) bool { return a.by == tools.ByRule || a.hash == hash }

// MemoryGrants keeps grants for the life of the process: for runs without a session store, and for tests. The
// zero value is ready to use.
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
		*all = slices.DeleteFunc(*all, func(g Grant) bool { return g.ID == id })
	})
	return nil
}
