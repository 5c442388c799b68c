package mcp

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"jcode/mcp/config"
)

// Lease keeps servers running: a server runs as long as at least one lease names it.
type Lease struct {
	m     *Manager
	claim *claim
	once  sync.Once
}

// Release ends the lease. A server without any lease is stopped in the background.
func (l *Lease) Release() {
	l.once.Do(func() {
		l.m.control.Lock()
		defer l.m.control.Unlock()
		l.m.mu.Lock()
		l.m.wants.give(l.claim)
		l.m.mu.Unlock()
		l.m.settle(order{})
	})
}

// Acquire leases servers by name for a role. Servers that do not run are started in parallel,
// and those that are down are retried. It returns when all are connected. On any failure, or
// when ctx ends, it releases the lease and returns which server failed and why. An optional
// entry may fail.
func (m *Manager) Acquire(ctx context.Context, names []string) (*Lease, error) {
	claim, entries, outcomes, err := m.begin(names)
	if err != nil {
		return nil, err
	}
	lease := &Lease{m: m, claim: claim}
	for _, e := range entries {
		failed := await(ctx, outcomes[e.Name])
		if failed != nil && (!e.Optional || ctx.Err() != nil) {
			secrets := m.secretsOf(e.Name)
			lease.Release()
			return nil, fmt.Errorf("MCP server %s: %s", e.Name, config.Scrub(plainError(failed), secrets))
		}
	}
	return lease, nil
}

// begin leases all names, or none when one of them can't be used, and starts what is missing.
func (m *Manager) begin(names []string) (*claim, []config.Entry, map[string]<-chan error, error) {
	m.control.Lock()
	defer m.control.Unlock()
	m.ensureConfig()
	m.mu.Lock()
	claim := m.wants.claim()
	entries := make([]config.Entry, 0, len(names))
	for _, name := range slices.Sorted(slices.Values(names)) {
		e, err := m.wants.usable(name)
		if err != nil {
			m.wants.give(claim)
			m.mu.Unlock()
			return nil, nil, nil, err
		}
		entries = append(entries, e)
	}
	for _, e := range entries {
		_, _ = m.wants.want(e.Name, claim) // it is usable
	}
	m.mu.Unlock()
	return claim, entries, m.attempts(order{}, names...), nil
}

// Leaser returns leases as functions, in the form that a conversation uses for its roles.
type Leaser struct {
	M *Manager
	// Exclusive leases replace the session's own lease of configured servers while they last: a
	// role's servers instead of all. Leases of sub-agents are not exclusive.
	Exclusive bool
}

// Acquire is Manager.Acquire; release ends the lease. When the last exclusive lease is
// released, the session's own servers are leased again first.
func (l Leaser) Acquire(ctx context.Context, names []string) (release func(), err error) {
	lease, err := l.M.Acquire(ctx, names)
	if err != nil {
		return nil, err
	}
	if l.Exclusive {
		lease.takeOver()
	}
	return lease.Release, nil
}

// takeOver makes the lease exclusive: servers that only the session's own lease names end.
func (l *Lease) takeOver() {
	l.m.control.Lock()
	defer l.m.control.Unlock()
	l.m.mu.Lock()
	l.claim.exclusive = true
	l.m.mu.Unlock()
	l.m.settle(order{})
}

// secretsOf returns the secrets of a server's target.
func (m *Manager) secretsOf(name string) []string {
	if v := m.viewOf(name); v != nil {
		return v.secrets
	}
	return nil
}

// viewOf returns the view of a server that has an actor; nil for others.
func (m *Manager) viewOf(name string) *view {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a := m.actors[name]; a != nil {
		return a.view.Load()
	}
	return nil
}
