package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"jcode/mcp/config"
)

// Disconnected is the result of a disconnect.
type Disconnected struct {
	Name      string `json:"name"`
	Was       State  `json:"was"`
	Removed   int    `json:"removed_tools"`
	Cancelled int    `json:"cancelled_calls"`
}

// Disconnect ends a server and removes its tools before it returns; it never waits for the
// server. by names who asked, as the status shows it.
func (m *Manager) Disconnect(name, by string) (Disconnected, error) {
	m.control.Lock()
	defer m.control.Unlock()
	m.mu.Lock()
	_, err := m.wants.named(name)
	if err == nil {
		m.wants.drop(name, by)
	}
	m.mu.Unlock()
	if err != nil {
		return Disconnected{}, err
	}
	was, cancelled, removed := m.stopActor(name)
	return Disconnected{name, was, removed, cancelled}, nil
}

// Restart retries a failed server and restarts a connected one, on behalf of a person: the
// files that it starts are accepted as they are now.
func (m *Manager) Restart(name string) error {
	m.approvals.accept(name)
	return m.Retry(name)
}

// Retry is Restart on behalf of the program or a script: changed files are not accepted.
func (m *Manager) Retry(name string) error {
	m.control.Lock()
	defer m.control.Unlock()
	m.mu.Lock()
	closed := m.closed
	e, err := m.wants.want(name, nil)
	m.mu.Unlock()
	switch {
	case closed:
		return errDisconnected
	case err != nil:
		return err
	}
	target, err := m.env.Resolve(e)
	m.actor(name).connect(spec{e, target, err}, false)
	return nil
}

// Approve approves a server of a project's file, permanently with keep, else for this run, and
// starts it if it is enabled. hash identifies the version that the person saw; "" accepts the
// current one.
func (m *Manager) Approve(name, hash string, keep bool) error {
	m.control.Lock()
	defer m.control.Unlock()
	m.mu.Lock()
	c, ok := m.wants.chosen[name]
	known := m.wants.known()
	m.mu.Unlock()
	if !ok {
		return config.UnknownServer(name, known)
	}
	e := c.Entry
	if c.Pending != nil {
		e = *c.Pending
	}
	pin := m.approvals.pin(e)
	if hash != "" && hash != pin {
		return fmt.Errorf("server %s has changed since it was shown; look at it again", name)
	}
	if err := m.approvals.approve(e, pin, keep); err != nil {
		return err
	}
	m.approvals.accept(name)
	m.mu.Lock()
	delete(m.wants.off, name)
	m.wants.choose()
	m.wants.wantEnabled()
	m.mu.Unlock()
	m.settle(order{})
	return nil
}

// SetEnabled switches a server on or off, for this run and permanently.
func (m *Manager) SetEnabled(name string, on bool) error {
	m.mu.Lock()
	e, err := m.wants.named(name)
	m.mu.Unlock()
	if err != nil {
		return err
	}
	if e.Source.File != "" {
		if _, err := m.opt.Paths.Enable(e, on); err != nil {
			return err
		}
	}
	if !on {
		if _, err := m.Disconnect(name, "the user"); err != nil {
			return err
		}
	}
	m.mu.Lock()
	delete(m.wants.off, name) // its state is "disabled" already
	m.mu.Unlock()
	m.reread(order{})
	if !on {
		return nil
	}
	if d, err := m.Server(name); err == nil && (d.State == StateConnecting || d.State == StateConnected) {
		return nil
	}
	return m.Restart(name)
}

func joinNames(m map[string]string) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}
