package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"jcode/mcp/config"
)

// Lease holds servers: as long as one lease names a server, it runs. Release gives it up.
type Lease struct {
	m     *Manager
	names map[string]bool // guarded by m.mu
	// exclusive leases stand in for what the session itself holds of the configuration.
	exclusive bool
	once      sync.Once
}

func (m *Manager) newLease() *Lease {
	l := &Lease{m: m, names: map[string]bool{}}
	m.leases[l] = struct{}{}
	return l
}

// hold adds names to a lease. The caller holds mu.
func (m *Manager) hold(l *Lease, names []string) {
	for _, name := range names {
		l.names[name] = true
	}
}

// held counts the leases of each name. The caller holds mu.
func (m *Manager) held() map[string]int {
	out := map[string]int{}
	suspended := false
	for l := range m.leases {
		suspended = suspended || l.exclusive
	}
	for l := range m.leases {
		if l == m.base && suspended {
			continue
		}
		for name := range l.names {
			out[name]++
		}
	}
	return out
}

// Names lists what the lease holds, sorted.
func (l *Lease) Names() []string {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	return slices.Sorted(maps.Keys(l.names))
}

// Release returns the lease up. A server whose last lease goes ends, without being waited for.
func (l *Lease) Release() {
	l.once.Do(func() {
		l.m.control.Lock()
		defer l.m.control.Unlock()
		l.m.mu.Lock()
		delete(l.m.leases, l)
		l.m.mu.Unlock()
		l.m.settle(wish{})
	})
}

// Acquire leases servers by name for a role. Those that run are counted up, missing ones
// start in parallel, those that are down are tried anew. It returns when all are
// connected; on any failure, or when ctx ends, it gives back what it took and says which
// server failed and why. An entry marked optional may fail.
func (m *Manager) Acquire(ctx context.Context, names []string) (*Lease, error) {
	lease, waits, err := m.begin(names)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(waits)) {
		var failed error
		select {
		case failed = <-waits[name].outcome:
		case <-ctx.Done():
			failed = ctx.Err()
		}
		if failed != nil && (!waits[name].optional || ctx.Err() != nil) {
			m.mu.Lock()
			secrets := m.secretsOf(name)
			m.mu.Unlock()
			lease.Release()
			return nil, fmt.Errorf("MCP server %s: %s", name, config.Scrub(plainError(failed), secrets))
		}
	}
	return lease, nil
}

type acquiring struct {
	outcome  <-chan error
	optional bool
}

// begin resolves names and starts what is missing.
func (m *Manager) begin(names []string) (*Lease, map[string]acquiring, error) {
	m.control.Lock()
	defer m.control.Unlock()
	m.ensureConfig()
	m.mu.Lock()
	for _, name := range names {
		e, ok := m.entry(name)
		var err error
		switch {
		case !ok:
			err = config.UnknownServer(name, m.known())
		case e.Err != nil:
			err = fmt.Errorf("MCP server %s: %w", name, e.Err)
		case !m.isApproved(e):
			err = fmt.Errorf("MCP server %s of %s waits for approval: /mcp approve %s", name, e.Source.File, name)
		}
		if err != nil {
			m.mu.Unlock()
			return nil, nil, err
		}
	}
	lease := m.newLease()
	m.hold(lease, names)
	for _, name := range names {
		delete(m.off, name)
	}
	m.mu.Unlock()
	begun := m.settle(wish{})
	waits := map[string]acquiring{}
	for _, name := range names {
		outcome, started := begun.outcomes[name]
		if !started {
			outcome = m.actor(name).await()
		}
		m.mu.Lock()
		e, _ := m.entry(name)
		m.mu.Unlock()
		waits[name] = acquiring{outcome, e.Optional}
	}
	return lease, waits, nil
}

// Leaser returns leases as functions, as a conversation takes them for its roles.
type Leaser struct {
	M *Manager
	// Exclusive leases replace what the session itself holds of the configuration for as
	// long as they last: a role's servers instead of all. A sub-agent's leases are not.
	Exclusive bool
}

// Acquire is Manager.Acquire; release gives the lease up. When the last exclusive lease
// goes, the session's own servers are held again before it does.
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

// takeOver makes the lease exclusive: what only the session's own lease holds ends.
func (l *Lease) takeOver() {
	l.m.control.Lock()
	defer l.m.control.Unlock()
	l.m.mu.Lock()
	l.exclusive = true
	l.m.mu.Unlock()
	l.m.settle(wish{})
}

// secretsOf returns the secrets of a server's target. The caller holds mu.
func (m *Manager) secretsOf(name string) []string {
	if a := m.actors[name]; a != nil {
		return a.view.Load().secrets
	}
	return nil
}
