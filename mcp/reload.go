package mcp

import (
	"context"
	"maps"
	"slices"

	"jcode/mcp/config"
)

// Change describes what a reload did to one server.
type Change struct {
	Name   string `json:"name"`
	Change string `json:"change"` // added, removed, changed, unchanged, retried, restarted, started, needs_approval, invalid
	State  State  `json:"state"`
	Tools  int    `json:"tools"`
	Error  string `json:"error,omitempty"`
}

func (c *Change) update(d Details) { c.State, c.Tools, c.Error = d.State, d.Tools, d.Error }

// Reloaded is the outcome of a reload.
type Reloaded struct {
	Servers []Change            `json:"servers"`
	Files   []config.FileReport `json:"files"`
	waits   []<-chan error
}

// Reload reads all files again: unchanged servers keep running, changed ones restart, removed
// ones end, failed ones are retried; force restarts unchanged ones too. With a name only that
// server is retried or forced, even if it was disconnected. It doesn't wait for connections.
func (m *Manager) Reload(name string, force bool) Reloaded {
	return m.reread(order{retry: true, force: force, only: name})
}

func (m *Manager) reread(o order) Reloaded {
	m.control.Lock()
	defer m.control.Unlock()
	m.mu.Lock()
	before := m.wants.chosen
	m.mu.Unlock()
	m.readConfig()
	m.mu.Lock()
	if o.only != "" {
		delete(m.wants.off, o.only)
	}
	m.wants.retake()
	m.mu.Unlock()
	done := m.settle(o)
	return m.reloaded(before, done)
}

func (m *Manager) reloaded(before map[string]config.Chosen, done settleResult) Reloaded {
	m.mu.Lock()
	defer m.mu.Unlock()
	verbs := map[string]verb{}
	for _, a := range done.actions {
		verbs[a.name] = a.verb
	}
	names := map[string]bool{}
	for n := range before {
		names[n] = true
	}
	for _, n := range m.wants.known() {
		names[n] = true
	}
	out := Reloaded{Files: m.wants.config.Files}
	for _, n := range slices.Sorted(maps.Keys(names)) {
		c := Change{Name: n, Change: "unchanged"}
		now, exists := m.wants.entry(n)
		old, had := before[n]
		switch {
		case !exists:
			c.Change, c.State = "removed", StateDisconnected
		case now.Err != nil:
			c.Change = "invalid"
		case m.wants.chosen[n].Pending != nil:
			c.Change = "needs_approval"
		case !had && now.Source.File != "":
			c.Change = "added"
		case had && !old.Entry.Target.Equal(now.Target):
			c.Change = "changed"
		case verbs[n] == verbRetry:
			c.Change = "retried"
		case verbs[n] == verbRestart:
			c.Change = "restarted"
		case verbs[n] == verbStart && had:
			c.Change = "started"
		}
		if exists {
			c.update(m.details(n))
		}
		out.Servers = append(out.Servers, c)
	}
	for _, n := range slices.Sorted(maps.Keys(done.outcomes)) {
		out.waits = append(out.waits, done.outcomes[n])
	}
	return out
}

// settled waits for the connections that the reload began, until ctx ends, and updates the
// states.
func (r *Reloaded) settled(ctx context.Context, m *Manager) {
	for _, w := range r.waits {
		_ = await(ctx, w) // the state below has the outcome
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range r.Servers {
		if c := &r.Servers[i]; c.Change != "removed" {
			c.update(m.details(c.Name))
		}
	}
}

// await waits for the outcome of an attempt, or for ctx.
func await(ctx context.Context, outcome <-chan error) error {
	select {
	case err := <-outcome:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
