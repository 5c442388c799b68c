package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	"jcode/mcp/config"
	"jcode/mcp/wire"
)

// Lent says how a program's server is used.
type Lent struct {
	// Trusted says that its readOnlyHint is believed.
	Trusted bool
	// CallTimeout is how long a call may show no progress; 0 is the usual limit.
	CallTimeout time.Duration
}

// lent are the servers that the program which drives this run serves, by name. It is safe for concurrent use.
type lent struct {
	mu    sync.Mutex
	peers map[string]*wire.Peer
}

func (l *lent) peer(name string) *wire.Peer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.peers[name]
}

func (l *lent) set(name string, p *wire.Peer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.peers == nil {
		l.peers = map[string]*wire.Peer{}
	}
	l.peers[name] = p
}

// Lender adds servers that the program which drives this run serves. Their tools are offered and judged like those of
// every server.
type Lender struct{ M *Manager }

// Lend adds a server, and returns when it is connected, or can't be.
func (l Lender) Lend(ctx context.Context, name string, peer *wire.Peer, how Lent) (Details, error) {
	outcome, err := l.begin(name, peer, how)
	if err != nil {
		return Details{}, err
	}
	if err := await(ctx, outcome); err != nil {
		l.takeBack(name)
		return Details{}, err
	}
	return l.M.Server(name)
}

func (l Lender) begin(name string, peer *wire.Peer, how Lent) (<-chan error, error) {
	m := l.M
	m.control.Lock()
	defer m.control.Unlock()
	m.ensureConfig()
	m.mu.Lock()
	err := m.wants.lend(name, how)
	closed := m.closed
	m.mu.Unlock()
	if err == nil && closed {
		err = errDisconnected
	}
	if err != nil {
		return nil, err
	}
	m.lent.set(name, peer)
	return m.attempts(order{single: map[string]bool{name: true}}, name)[name], nil
}

// takeBack forgets a server that could not be connected, so that its name is free again.
func (l Lender) takeBack(name string) {
	m := l.M
	_, _ = m.Disconnect(name, "the program that drives this run") // it may be gone
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.wants.extra, name)
}

// lend adds a program's server under a name that no other server has.
func (w *wants) lend(name string, how Lent) error {
	if err := config.CheckKey(name); err != nil {
		return err
	}
	if e, taken := w.entry(name); taken {
		if e.Source.Scope == config.ScopeProgram {
			return fmt.Errorf("%s is served already: a server that changes its tools says so with notifications/tools/list_changed", name)
		}
		return fmt.Errorf("there is a server %q already (%s): choose another name", name, sourceText(e.Source))
	}
	e := config.NewEntry(name)
	e.Target, e.Source, e.Trusted = config.Target{Type: config.Line}, config.Source{Scope: config.ScopeProgram}, how.Trusted
	if how.CallTimeout > 0 {
		e.CallTimeout = how.CallTimeout
		e.MaxCallTime = max(e.MaxCallTime, how.CallTimeout)
	}
	w.extra[name] = e
	_, err := w.want(name, w.own)
	return err
}

// connectPeer connects to a server that the program which drives this run serves.
func (d dialer) connectPeer(ctx context.Context, e config.Entry, log *wire.Log, hooks sessionHooks) (*session, error) {
	var peer *wire.Peer
	if d.peer != nil {
		peer = d.peer(e.Name)
	}
	if peer == nil {
		return nil, wire.Permanentf("no program serves it")
	}
	l, err := d.host.OpenPeer(peer, log)
	if err != nil {
		return nil, err
	}
	s, err := openSession(ctx, l, log, hooks, classicProtocol)
	if err == nil {
		return s, nil
	}
	if err = l.HandshakeError(err); wire.Refused(err) {
		err = wire.Permanentf("it refused to initialize: %s", wire.ErrorText(err))
	}
	return nil, err
}
