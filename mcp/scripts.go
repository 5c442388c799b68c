package mcp

import (
	"context"

	"jcode/mcp/config"
	"jcode/mcp/wire"
	"jcode/tools"
)

// Add adds a server for a script, without waiting for it. It is idempotent: an equal target
// under the name changes nothing, another one replaces it. The error is about the name or the
// target itself. approve, if not nil, is called in the background before anything starts; its
// error becomes the reason for the server's failure.
func (m *Manager) Add(name string, target config.Target, approve func(context.Context, tools.Plan) error) error {
	m.control.Lock()
	defer m.control.Unlock()
	m.mu.Lock()
	_, configured := m.wants.chosen[name]
	e, known, err := m.wants.adopt(name, target.Typed(), config.ScopeLua)
	wanted := known && m.wants.held()[name] > 0
	if err == nil && !wanted {
		e, err = m.wants.want(name, m.wants.own)
	}
	m.mu.Unlock()
	if err != nil || wanted {
		return err
	}
	if approve == nil || configured && e.Enabled {
		m.settle(order{})
		return nil
	}
	plan := tools.Plan{Summary: "Start MCP server " + name, Accesses: []tools.Access{m.approvals.access(e)}, Notes: m.approvals.notes(e)}
	resolved, err := m.env.Resolve(e)
	a := m.actor(name)
	a.connectAfter(spec{e, resolved, err}, func(ctx context.Context) error { return approve(ctx, plan) })
	a.ask(func() {}) // from here on its state is connecting
	return nil
}

// connectAfter connects once approve returns nil; until then the server's state is connecting.
func (a *actor) connectAfter(s spec, approve func(context.Context) error) {
	a.do(func() {
		a.spec, a.single = s, false
		a.failures, a.scale = 0, 1
		a.begin()
		ctx, cancel := context.WithCancel(context.Background())
		a.dialing = cancel
		gen := a.gen
		a.closing.Go(func() {
			defer cancel()
			err := approve(ctx)
			a.do(func() {
				switch {
				case gen != a.gen:
				case err != nil:
					a.dialing = nil
					a.failed(wire.Permanentf("approval refused: %v", err))
				default:
					a.restart()
				}
			})
		})
		a.publish(true)
	})
}

// Remove removes a server for a script and reports whether it existed in any state. Its tools
// are gone when it returns.
func (m *Manager) Remove(name string) bool {
	m.mu.Lock()
	present := false
	if _, known := m.wants.entry(name); known {
		present = m.details(name).State != StateDisconnected
	}
	m.mu.Unlock()
	if !present {
		return false
	}
	if _, err := m.Disconnect(name, "a script"); err != nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.wants.extra, name)
	return true
}

// Running returns the servers that run or are meant to, sorted by name, as scripts see them.
func (m *Manager) Running() []Status {
	out := []Status{}
	for _, d := range m.Snapshot() {
		if d.State != StateDisconnected {
			out = append(out, d.Status)
		}
	}
	return out
}
