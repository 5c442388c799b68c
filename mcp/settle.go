package mcp

import (
	"time"
)

// settleResult is the result of settle.
type settleResult struct {
	actions  []action
	outcomes map[string]<-chan error // of the attempts that it began
}

// order is what settle does besides making the running servers match the leases.
type order struct {
	// retry retries servers that are down, force restarts those that are up; only limits both to
	// one server.
	retry, force bool
	only         string
	// single names servers whose first failure is reported to the caller; they are not retried.
	single map[string]bool
}

// settle starts and stops servers until they match the leases. The caller holds control.
func (m *Manager) settle(o order) settleResult {
	m.mu.Lock()
	wanted, specs := map[string]wantedServer{}, map[string]spec{}
	for name := range m.wants.held() {
		e, ok := m.wants.entry(name)
		if !ok || e.Err != nil {
			continue
		}
		target, err := m.env.Resolve(e)
		if err != nil {
			target.Key = "unresolved " + err.Error()
		}
		meant := o.only == "" || o.only == name
		wanted[name] = wantedServer{key: target.Key, retry: o.retry && meant, force: o.force && meant}
		specs[name] = spec{e, target, err}
	}
	running := map[string]runningServer{}
	for name, a := range m.actors {
		v := a.view.Load()
		running[name] = runningServer{v.key, v.state}
	}
	closed := m.closed
	m.mu.Unlock()
	out := settleResult{outcomes: map[string]<-chan error{}}
	if closed {
		return out
	}
	out.actions = reconcile(wanted, running)
	for _, act := range out.actions {
		switch act.verb {
		case verbStop:
			m.retireActor(act.name)
		case verbStart, verbRestart, verbRetry:
			out.outcomes[act.name] = m.actor(act.name).connect(specs[act.name], o.single[act.name])
		case verbKeep:
			m.actor(act.name).refresh(specs[act.name].entry)
		}
	}
	for name := range out.outcomes { // wait until their state says so
		m.actor(name).ask(func() {})
	}
	return out
}

// attempts settles, and returns the outcome of each name's attempt, whether it was started
// here or before. A server that is down is retried now. The caller holds control.
func (m *Manager) attempts(o order, names ...string) map[string]<-chan error {
	begun := m.settle(o).outcomes
	out := make(map[string]<-chan error, len(names))
	for _, name := range names {
		outcome, ok := begun[name]
		if !ok {
			outcome = m.actor(name).await()
		}
		out[name] = outcome
	}
	return out
}

// actor returns the actor of a name, creating it if needed.
func (m *Manager) actor(name string) *actor {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.actors[name]
	if a == nil {
		a = newActor(name, actorEnv{
			dialer: dialer{host: m.host, keeper: m.keeper, mayStart: m.approvals.mayStart, rights: m.approvals.rights, peer: m.lent.peer}, hooks: m.hooks, publish: m.publish,
			delay: func(d time.Duration) time.Duration { return m.delay(d) }, now: time.Now,
		}, m.newLog(name))
		m.actors[name] = a
	}
	return a
}

// stopActor stops a server and removes its tools before it returns.
func (m *Manager) stopActor(name string) (was State, cancelled, removed int) {
	m.mu.Lock()
	a := m.actors[name]
	m.mu.Unlock()
	if a == nil {
		return StateDisconnected, 0, 0
	}
	removed = m.opt.Registry.UnregisterOwner(ownerOf(name))
	was, cancelled = a.stop(nil)
	return was, cancelled, removed
}

// retireActor is stopActor for a server that is no longer leased: calls in flight end first.
func (m *Manager) retireActor(name string) {
	m.mu.Lock()
	a := m.actors[name]
	m.mu.Unlock()
	if a == nil {
		return
	}
	m.opt.Registry.UnregisterOwner(ownerOf(name))
	a.retire()
}
