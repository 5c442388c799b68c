package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"jcode/mcp/auth"
	"jcode/mcp/config"
)

// signIns are the sign-ins that run.
type signIns struct {
	ctx  context.Context // ends with the manager
	end  context.CancelFunc
	wait sync.WaitGroup

	mu    sync.Mutex
	asked map[string]bool              // what the person was asked for by itself
	more  map[string]*auth.NeedsSignIn // rights that calls asked for in vain, by server
}

// first reports whether a person was not asked for this yet.
func (s *signIns) first(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = map[string]bool{}
	}
	was := s.asked[what]
	s.asked[what] = true
	return !was
}

// offerSignIn asks the person, in the background, to sign in to a server that needs it. By
// itself it asks once for each server and its rights; then there is /mcp login.
func (m *Manager) offerSignIn(name string, err error) {
	var need *auth.NeedsSignIn
	if m.opt.Person == nil || !errors.As(err, &need) || need.Why != nil || !m.signs.first(name+fmt.Sprint(need.Scopes)) {
		return
	}
	m.signs.wait.Go(func() {
		err := m.SignIn(m.signs.ctx, name, m.opt.Person)
		if err != nil && m.signs.ctx.Err() == nil && !errors.Is(err, auth.ErrDeclined) {
			m.notify("warn", "MCP server %s: sign-in: %v", name, err)
		}
	})
}

// BeginSignIn starts a sign-in of the person who is there; what comes of it is told.
func (m *Manager) BeginSignIn(name string) error {
	if _, err := m.signInEntry(name); err != nil {
		return err
	}
	if m.opt.Person == nil {
		return errors.New("there is nobody to sign in")
	}
	m.signs.wait.Go(func() {
		switch err := m.SignIn(m.signs.ctx, name, m.opt.Person); {
		case err == nil:
			m.notify("info", "MCP server %s: signed in", name)
		case m.signs.ctx.Err() == nil:
			m.notify("warn", "MCP server %s: sign-in: %v", name, err)
		}
	})
	return nil
}

// server is what a sign-in needs of an entry.
func (m *Manager) server(e config.Entry) (auth.Server, error) {
	if m.keeper == nil {
		return auth.Server{}, errors.New("there is no configuration folder to keep a sign-in in")
	}
	if e.Target.Type == config.Stdio {
		return auth.Server{}, fmt.Errorf("server %s is a program: it has nothing to sign in to", e.Name)
	}
	t, err := m.env.Resolve(e)
	return auth.Server{Name: e.Name, URL: t.URL, Settings: t.OAuth}, err
}

// signInName is what a person calls the server; empty for an address that was typed.
func signInName(e config.Entry) string {
	if e.Source.Scope == config.ScopeRun && e.Source.File == "" {
		return ""
	}
	return e.Name
}

// signInEntry returns an entry that may be signed in to.
func (m *Manager) signInEntry(name string) (config.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entry(name)
	switch {
	case !ok:
		return e, config.UnknownServer(name, m.known())
	case e.Err != nil:
		return e, e.Err
	case !m.isApproved(e):
		return e, &needsApproval{name, e.Source.File}
	}
	return e, nil
}

// SignIn takes a person through the sign-in to a server and connects it. Sign-ins come one
// after another, as dialogs do.
func (m *Manager) SignIn(ctx context.Context, name string, person auth.Person) error {
	e, err := m.signInEntry(name)
	if err != nil {
		return err
	}
	if err := m.signIn(ctx, e, m.pendingRights(name), person); err != nil {
		return err
	}
	m.mu.Lock()
	started, off := m.started, m.off[name] != ""
	m.mu.Unlock()
	if !started || off || !e.Enabled {
		return nil
	}
	return m.Restart(name)
}

// SignInTo is SignIn for an address that is not configured.
func (m *Manager) SignInTo(ctx context.Context, name string, t config.Target, person auth.Person) error {
	if err := config.Check(t); err != nil {
		return err
	}
	e := config.NewEntry(name)
	e.Target, e.Source = t, config.Source{Scope: config.ScopeRun}
	return m.signIn(ctx, e, nil, person)
}

func (m *Manager) signIn(ctx context.Context, e config.Entry, more *auth.NeedsSignIn, person auth.Person) error {
	s, err := m.server(e)
	if err != nil {
		return err
	}
	select {
	case m.asking <- struct{}{}:
		defer func() { <-m.asking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	need := more
	if need == nil {
		if need, err = m.keeper.Look(ctx, s); err != nil {
			return fmt.Errorf("ask %s how to sign in: %w", s.URL, err)
		}
	}
	if need == nil {
		return fmt.Errorf("server %s does not ask for a sign-in", e.Name)
	}
	return m.keeper.SignIn(ctx, s, need, person)
}

// SignOut forgets the sign-in to a server and reports whether there was one. A server that
// runs is ended.
func (m *Manager) SignOut(ctx context.Context, name string) (bool, error) {
	e, err := m.signInEntry(name)
	if err != nil {
		return false, err
	}
	s, err := m.server(e)
	if err != nil {
		return false, err
	}
	had, err := m.keeper.Forget(ctx, s)
	m.mu.Lock()
	started := m.started
	m.mu.Unlock()
	if err == nil && had && started {
		_, err = m.Disconnect(name, "a sign-out")
	}
	return had, err
}

// SignOutOf is SignOut for an address that is not configured.
func (m *Manager) SignOutOf(ctx context.Context, address string) (bool, error) {
	if m.keeper == nil {
		return false, errors.New("there is no configuration folder")
	}
	return m.keeper.Forget(ctx, auth.Server{URL: address})
}

// SignInsIn says where sign-ins are kept.
func (m *Manager) SignInsIn() string {
	if m.keeper == nil {
		return ""
	}
	return m.keeper.Where()
}

// pendingRights takes what a call asked for in vain.
func (m *Manager) pendingRights(name string) *auth.NeedsSignIn {
	m.signs.mu.Lock()
	defer m.signs.mu.Unlock()
	more := m.signs.more[name]
	delete(m.signs.more, name)
	return more
}

// moreRights notes that a call needs a sign-in with more rights, and asks the person.
func (m *Manager) moreRights(name string, err error) {
	var need *auth.NeedsSignIn
	if !errors.As(err, &need) || !need.StepUp {
		return
	}
	m.signs.mu.Lock()
	if m.signs.more == nil {
		m.signs.more = map[string]*auth.NeedsSignIn{}
	}
	m.signs.more[name] = need
	m.signs.mu.Unlock()
	m.offerSignIn(name, err)
}
