package mcp

import (
	"context"
	"fmt"

	"jcode/mcp/config"
	"jcode/mcp/wire"
	"jcode/tools"
)

// Add wants a server for a script. It never waits and is idempotent: an equal target
// under the name changes nothing, another one replaces it. The error is about the name
// or the target itself. approve, when given, is asked in the background before anything
// starts; its error is the reason for the server's failure.
func (m *Manager) Add(name string, target config.Target, approve func(context.Context, tools.Plan) error) error {
	target = target.Typed()
	m.control.Lock()
	defer m.control.Unlock()
	m.mu.Lock()
	old, had := m.extra[name]
	_, configured := m.chosen[name]
	e, err := m.adopt(name, target, config.ScopeLua)
	if err != nil {
		m.mu.Unlock()
		return err
	}
	same := configured || had && old.Target.Equal(target)
	if same && m.held()[name] > 0 {
		m.mu.Unlock()
		return nil
	}
	approved := configured && m.isApproved(e) && e.Enabled
	if configured && !m.isApproved(e) {
		m.mu.Unlock()
		return fmt.Errorf("server %s of %s: %w", name, e.Source.File, ErrNeedsApproval)
	}
	delete(m.off, name)
	m.hold(m.own, []string{name})
	if configured && !e.Enabled {
		m.forced[name] = true
	}
	plan := tools.Plan{Summary: "Start MCP server " + name, Accesses: []tools.Access{m.connectAccess(name, target, e.Source.Scope)}, Notes: m.targetNotes(target, e.Source.Scope)}
	m.mu.Unlock()
	if approve == nil || approved {
		m.settle(wish{})
		return nil
	}
	resolved, err := m.env.Resolve(e)
	a := m.actor(name)
	a.connectAfter(spec{e, resolved, err}, func(ctx context.Context) error { return approve(ctx, plan) })
	a.ask(func() {}) // it shows as connecting from here on
	return nil
}

// connectAfter connects once approve agrees; until then the server shows as connecting.
func (a *actor) connectAfter(s spec, approve func(context.Context) error) {
	a.do(func() {
		a.spec, a.single = s, false
		a.failures, a.scale = 0, 1
		a.endGeneration(errDisconnected)
		a.tools, a.skipped, a.prompts = nil, nil, nil
		a.state, a.err = StateConnecting, nil
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

// Remove drops a server for a script and reports whether it was there in any state. Its
// tools are gone when it returns.
func (m *Manager) Remove(name string) bool {
	m.mu.Lock()
	present := false
	if _, known := m.entry(name); known {
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
	delete(m.extra, name)
	return true
}

// Running lists the servers that run or should, sorted by name, as scripts see them.
func (m *Manager) Running() []Status {
	out := []Status{}
	for _, d := range m.Snapshot() {
		if d.State != StateDisconnected {
			out = append(out, d.Status)
		}
	}
	return out
}
