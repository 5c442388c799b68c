package mcp

import (
	"context"
	"errors"
	"fmt"

	"jcode/mcp/auth"
	"jcode/mcp/config"
)

// SignIns are the sign-ins of a person to the servers of a manager.
type SignIns struct {
	m    *Manager
	kept *signIns
}

// errNoFolder reports that there is no place to keep sign-ins.
var errNoFolder = errors.New("there is no configuration folder to keep a sign-in in")

// offer asks the person, in the background, to sign in to a server that needs it: once for
// each server, authorization server and set of rights. After that there is /mcp login.
func (s SignIns) offer(name string, err error) {
	need, ok := errors.AsType[*auth.NeedsSignIn](err)
	if s.kept.person == nil || !ok || need.Why != nil || !s.kept.first(question{name, need.Host, fmt.Sprint(need.Scopes)}) {
		return
	}
	s.kept.wait.Go(func() {
		err := s.In(s.kept.ctx, name, s.kept.person)
		if err != nil && s.kept.ctx.Err() == nil && !errors.Is(err, auth.ErrDeclined) {
			s.m.notify("warn", "MCP server %s: sign-in: %v", name, err)
		}
	})
}

// Begin starts a sign-in of the person in the background and notifies them of the outcome.
func (s SignIns) Begin(name string) error {
	if _, err := s.entry(name); err != nil {
		return err
	}
	if s.kept.person == nil {
		return errors.New("there is nobody to sign in")
	}
	s.kept.wait.Go(func() {
		switch err := s.In(s.kept.ctx, name, s.kept.person); {
		case err == nil:
			s.m.notify("info", "MCP server %s: signed in", name)
		case s.kept.ctx.Err() == nil:
			s.m.notify("warn", "MCP server %s: sign-in: %v", name, err)
		}
	})
	return nil
}

// Asked reports whether a person has to sign in to a server before it can be used. That is
// false for a server with configured credentials, with a sign-in, or that waits for approval.
func (s SignIns) Asked(ctx context.Context, name string) (bool, error) {
	e, err := s.entry(name)
	if errors.Is(err, ErrNeedsApproval) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !e.Target.Remote() || e.Target.HasCredentials() || s.kept.keeper == nil {
		return false, nil
	}
	server, err := s.kept.server(e)
	if err != nil {
		return false, err
	}
	need, err := s.kept.keeper.Look(ctx, server)
	if err != nil || need == nil {
		return false, err
	}
	return need.Why == nil && server.Settings.NeedsPerson() && !s.kept.keeper.Has(server), need.Why
}

// In takes a person through the sign-in to a server and connects it. Only one sign-in runs at
// a time.
func (s SignIns) In(ctx context.Context, name string, person auth.Person) error {
	e, err := s.entry(name)
	if err != nil {
		return err
	}
	if err := s.kept.in(ctx, e, person); err != nil {
		return err
	}
	s.m.mu.Lock()
	started, off := s.m.wants.started, s.m.wants.off[name] != ""
	s.m.mu.Unlock()
	if !started || off || !e.Enabled {
		return nil
	}
	return s.m.Restart(name)
}

// InTo is In for an address that is not configured.
func (s SignIns) InTo(ctx context.Context, name string, t config.Target, person auth.Person) error {
	if err := config.Check(t); err != nil {
		return err
	}
	e := config.NewEntry(name)
	e.Target, e.Source = t, config.Source{Scope: config.ScopeRun}
	return s.kept.in(ctx, e, person)
}

// Out deletes the sign-in to a server, stops the server, and reports whether there was one.
func (s SignIns) Out(ctx context.Context, name string) (bool, error) {
	e, err := s.entry(name)
	if err != nil {
		return false, err
	}
	server, err := s.kept.server(e)
	if err != nil {
		return false, err
	}
	had, err := s.kept.keeper.Forget(ctx, server)
	s.m.mu.Lock()
	started := s.m.wants.started
	s.m.mu.Unlock()
	if had && started {
		_, failed := s.m.Disconnect(name, "a sign-out")
		err = errors.Join(err, failed)
	}
	return had, err
}

// OutOf is Out for an address that is not configured.
func (s SignIns) OutOf(ctx context.Context, address string) (bool, error) {
	if s.kept.keeper == nil {
		return false, errNoFolder
	}
	return s.kept.keeper.Forget(ctx, auth.Server{URL: address})
}

// Where describes where sign-ins are kept.
func (s SignIns) Where() string {
	if s.kept.keeper == nil {
		return ""
	}
	return s.kept.keeper.Where()
}

// Trouble returns why the keyring can't be used, nil if it can or there is none.
func (s SignIns) Trouble() error {
	if s.kept.keeper == nil {
		return nil
	}
	return s.kept.keeper.Trouble()
}

// entry returns an entry that may be signed in to.
func (s SignIns) entry(name string) (config.Entry, error) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	return s.m.wants.usable(name)
}

// moreRights asks the person to sign in with the rights that a call lacked.
func (s SignIns) moreRights(name string, err error) {
	if need, ok := errors.AsType[*auth.NeedsSignIn](err); ok && need.StepUp {
		s.offer(name, err)
	}
}

// signInName returns the person's name for the server; empty for an address that was typed.
func signInName(e config.Entry) string {
	if e.Source.Scope == config.ScopeRun && e.Source.File == "" {
		return ""
	}
	return e.Name
}
