package mcp

import (
	"context"
	"fmt"
	"sync"

	"jcode/mcp/auth"
	"jcode/mcp/config"
)

// signIns signs a person in to servers, one at a time, and knows what they were asked. It does not know which
// servers there are, nor whether they run: see SignIns.
type signIns struct {
	keeper *auth.Keeper // nil without a configuration folder
	person auth.Person  // nil: nobody is there
	env    config.Environment
	asker  asker
	ctx    context.Context // ends with the manager
	end    context.CancelFunc
	wait   sync.WaitGroup

	mu    sync.Mutex
	asked map[question]bool // what the person was asked without having requested it
	told  map[string]bool   // servers of which a person was told that they need a sign-in
}

// question is what a person is asked once: to sign in to a server, at an authorization server, with a set of rights.
type question struct{ server, host, scopes string }

func newSignIns(keeper *auth.Keeper, person auth.Person, env config.Environment, asker asker) *signIns {
	s := &signIns{keeper: keeper, person: person, env: env, asker: asker, asked: map[question]bool{}, told: map[string]bool{}}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

// first reports whether a person has not been asked this before.
func (s *signIns) first(q question) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.asked[q]
	s.asked[q] = true
	return !was
}

// untold reports whether a person has not been told before that a server needs a sign-in.
func (s *signIns) untold(server string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.told[server]
	s.told[server] = true
	return !was
}

func (s *signIns) in(ctx context.Context, e config.Entry, person auth.Person) error {
	server, err := s.server(e)
	if err != nil {
		return err
	}
	need, err := s.keeper.Look(ctx, server) // before the turn: a caller that waited for another sign-in finds its outcome
	if err != nil {
		return fmt.Errorf("ask %s how to sign in: %w", server.URL, err)
	}
	if need == nil {
		return fmt.Errorf("server %s does not ask for a sign-in", e.Name)
	}
	release, err := s.asker.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	return s.keeper.SignIn(ctx, server, need, person)
}

// server returns what a sign-in needs of an entry.
func (s *signIns) server(e config.Entry) (auth.Server, error) {
	if s.keeper == nil {
		return auth.Server{}, errNoFolder
	}
	if !e.Target.Remote() {
		return auth.Server{}, fmt.Errorf("server %s is a program: it has nothing to sign in to", e.Name)
	}
	t, err := s.env.Resolve(e)
	return auth.Server{Name: e.Name, URL: t.URL, Settings: t.OAuth}, err
}
