package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"jcode/mcp/config"
)

// ErrNeedsApproval says that a server of a project's file waits for the person.
var ErrNeedsApproval = errors.New("needs approval")

// Connected is what a connect gave.
type Connected struct {
	Status  Details
	Waiting bool // still connecting when the wait was over
	Waited  time.Duration
}

// Connect connects a server by name, or to a new target. It waits at most wait for the
// first outcome. by says who asks. The target's command must have been approved.
func (m *Manager) Connect(ctx context.Context, name string, target *config.Target, by config.Scope, wait time.Duration) (Connected, error) {
	outcome, err := m.connect(name, target, by)
	if err != nil {
		return Connected{}, err
	}
	began := time.Now()
	var failed error
	waiting := false
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case failed = <-outcome:
	case <-timer.C:
		waiting = true
	case <-ctx.Done():
		return Connected{}, ctx.Err()
	}
	d, err := m.Server(name)
	if err != nil {
		return Connected{}, err
	}
	c := Connected{Status: d, Waiting: waiting, Waited: time.Since(began)}
	if failed != nil {
		return c, failed
	}
	return c, nil
}

// connect begins and returns the outcome of the attempt.
func (m *Manager) connect(name string, target *config.Target, by config.Scope) (<-chan error, error) {
	m.control.Lock()
	defer m.control.Unlock()
	single := map[string]bool{}
	m.mu.Lock()
	if target != nil {
		e, err := m.adopt(name, *target, by)
		if err != nil {
			m.mu.Unlock()
			return nil, err
		}
		single[e.Name] = by == config.ScopeSession
	}
	e, ok := m.entry(name)
	var err error
	switch {
	case !ok:
		err = config.UnknownServer(name, m.known())
	case e.Err != nil:
		err = e.Err
	case !m.isApproved(e):
		err = fmt.Errorf("server %s of %s: %w: /mcp approve %s", name, e.Source.File, ErrNeedsApproval, name)
	}
	if err != nil {
		m.mu.Unlock()
		return nil, err
	}
	delete(m.off, name)
	m.accept(name)
	if !e.Enabled {
		m.forced[name] = true
	}
	m.hold(m.own, []string{name})
	m.mu.Unlock()
	begun := m.settle(wish{single: single})
	if outcome, ok := begun.outcomes[name]; ok {
		return outcome, nil
	}
	return m.actor(name).await(), nil
}

// adopt takes a new target under a name. The caller holds mu.
func (m *Manager) adopt(name string, target config.Target, by config.Scope) (config.Entry, error) {
	if err := config.CheckKey(name); err != nil {
		return config.Entry{}, err
	}
	target = target.Typed()
	if err := config.Check(target); err != nil {
		return config.Entry{}, fmt.Errorf("server %s: %w", name, err)
	}
	if c, configured := m.chosen[name]; configured {
		if !c.Entry.Target.Equal(target) {
			return config.Entry{}, fmt.Errorf("a server %q is configured with another target (%s): choose another name", name, sourceText(c.Entry.Source))
		}
		return c.Entry, nil
	}
	e := config.NewEntry(name)
	e.Target, e.Source = target, config.Source{Scope: by}
	if old, ok := m.extra[name]; ok && old.Target.Equal(target) {
		return old, nil
	}
	m.extra[name] = e
	return e, nil
}

// Disconnected is what a disconnect did.
type Disconnected struct {
	Name      string `json:"name"`
	Was       State  `json:"was"`
	Removed   int    `json:"removed_tools"`
	Cancelled int    `json:"cancelled_calls"`
}

// Disconnect ends a server and takes its tools away before it returns; it never waits
// for the server. by says who asks, as the status shows it.
func (m *Manager) Disconnect(name, by string) (Disconnected, error) {
	m.control.Lock()
	defer m.control.Unlock()
	m.mu.Lock()
	if _, ok := m.entry(name); !ok {
		known := m.known()
		m.mu.Unlock()
		return Disconnected{}, config.UnknownServer(name, known)
	}
	for l := range m.leases {
		delete(l.names, name)
	}
	m.off[name] = by
	delete(m.forced, name)
	m.mu.Unlock()
	was, cancelled, removed := m.stopActor(name)
	return Disconnected{name, was, removed, cancelled}, nil
}

// Restart tries a failed server again and restarts a connected one, for a person: the files
// that it starts are taken as they are now.
func (m *Manager) Restart(name string) error {
	m.mu.Lock()
	m.accept(name)
	m.mu.Unlock()
	return m.Retry(name)
}

// Retry is Restart for others than a person.
func (m *Manager) Retry(name string) error {
	m.control.Lock()
	defer m.control.Unlock()
	m.mu.Lock()
	e, ok := m.entry(name)
	if !ok {
		known := m.known()
		m.mu.Unlock()
		return config.UnknownServer(name, known)
	}
	if m.closed {
		m.mu.Unlock()
		return errDisconnected
	}
	approved := m.isApproved(e)
	if approved && e.Err == nil {
		delete(m.off, name)
		if m.held()[name] == 0 {
			m.hold(m.own, []string{name})
		}
		if !e.Enabled {
			m.forced[name] = true
		}
	}
	m.mu.Unlock()
	switch {
	case e.Err != nil:
		return e.Err
	case !approved:
		return fmt.Errorf("server %s: %w", name, ErrNeedsApproval)
	}
	target, err := m.env.Resolve(e)
	m.actor(name).connect(spec{e, target, err}, false)
	return nil
}

// Approve approves what a project's file says of a server, for good when keep, else for
// this run, and starts it where it is enabled. hash pins what the person saw; "" takes
// what is there.
func (m *Manager) Approve(name, hash string, keep bool) error {
	m.control.Lock()
	defer m.control.Unlock()
	m.mu.Lock()
	c, ok := m.chosen[name]
	if !ok {
		known := m.known()
		m.mu.Unlock()
		return config.UnknownServer(name, known)
	}
	e := c.Entry
	if c.Pending != nil {
		e = *c.Pending
	}
	m.mu.Unlock()
	pin := m.pinOf(e)
	if hash != "" && hash != pin {
		return fmt.Errorf("server %s has changed since it was shown; look at it again", name)
	}
	if keep && m.opt.Trust != nil {
		if err := m.opt.Trust.Trust(m.opt.Paths.ProjectRoot, name, pin); err != nil {
			return fmt.Errorf("keep the approval of %s: %w", name, err)
		}
	}
	m.mu.Lock()
	m.approved[name+" "+pin] = true
	m.accept(name)
	delete(m.off, name)
	m.adoptApprovals()
	m.mu.Unlock()
	m.settle(wish{})
	return nil
}

// adoptApprovals applies approvals that were given a moment ago, all at once: several
// servers can be approved by one answer, and whoever comes first applies them all. The
// caller holds mu.
func (m *Manager) adoptApprovals() {
	m.rechoose()
	m.hold(m.base, m.startNames())
}

// SetEnabled switches a server on or off for good and for this run.
func (m *Manager) SetEnabled(name string, on bool) error {
	m.mu.Lock()
	e, ok := m.entry(name)
	known := m.known()
	m.mu.Unlock()
	if !ok {
		return config.UnknownServer(name, known)
	}
	if e.Source.File != "" {
		if err := m.opt.Paths.Enable(e, on); err != nil {
			return err
		}
	}
	if !on {
		if _, err := m.Disconnect(name, "the person"); err != nil {
			return err
		}
	}
	m.mu.Lock()
	delete(m.off, name) // "disabled" says it
	m.mu.Unlock()
	m.reread(wish{})
	if !on {
		return nil
	}
	if d, err := m.Server(name); err == nil && (d.State == StateConnecting || d.State == StateConnected) {
		return nil
	}
	return m.Restart(name)
}

// Persist writes a server to the person's own file.
func (m *Manager) Persist(name string, target config.Target) error {
	_, err := m.opt.Paths.AddServer(name, target, config.AddOptions{})
	return err
}

func joinNames(m map[string]string) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

func compareText(a, b string) int { return strings.Compare(a, b) }
