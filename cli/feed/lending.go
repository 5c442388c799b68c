package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"jcode/cli/stream"
	"jcode/mcp"
	mcpconfig "jcode/mcp/config"
	"jcode/mcp/wire"
	"jcode/remote"
)

// lending are the MCP servers that a program serves over the line on which it feeds a run. It is safe for concurrent use.
type lending struct {
	servers *mcp.Manager                              // nil for --no-mcp
	send    func(server string, message []byte) error // to the program

	mu    sync.Mutex
	peers map[string]*wire.Peer
	over  bool
}

// inputEnded is what calls fail with once the program can't answer any more.
const inputEnded = "the program that serves it has ended its input"

// serve adds a server, and waits until it is connected.
func (l *lending) serve(ctx context.Context, params json.RawMessage) (stream.Served, error) {
	var s stream.Serve
	if err := remote.Strict(params, &s); err != nil {
		return stream.Served{}, err
	}
	if l.servers == nil {
		return stream.Served{}, errors.New("--no-mcp: this run has no MCP servers")
	}
	const longest = 24 * 60 * 60
	if s.TimeoutSeconds < 0 || s.TimeoutSeconds > longest {
		return stream.Served{}, remote.Invalid("timeout_seconds is between 0 and %d", longest)
	}
	if err := mcpconfig.CheckKey(s.Name); err != nil {
		return stream.Served{}, remote.Invalid("%v", err)
	}
	peer, err := l.begin(s.Name)
	if err != nil {
		return stream.Served{}, err
	}
	d, err := mcp.Lender{M: l.servers}.Lend(ctx, s.Name, peer, mcp.Lent{Trusted: s.Trusted, CallTimeout: time.Duration(s.TimeoutSeconds * float64(time.Second))})
	if err != nil {
		l.drop(s.Name, peer)
		return stream.Served{}, fmt.Errorf("server %s: %w", s.Name, err)
	}
	out := stream.Served{Tools: []string{}}
	for _, t := range d.ToolList {
		out.Tools = append(out.Tools, mcpconfig.CanonicalName(s.Name, t.Name))
	}
	for _, t := range d.Skipped {
		out.Faults = append(out.Faults, stream.Fault{Name: t.Name, Why: t.Why})
	}
	return out, nil
}

// begin makes the other end of a server's messages, which come while it is being connected.
func (l *lending) begin(name string) (*wire.Peer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over:
		return nil, errors.New(inputEnded)
	case l.peers[name] != nil:
		return nil, fmt.Errorf("%s is served already: a server whose tools change says so with notifications/tools/list_changed", name)
	}
	peer := wire.NewPeer(func(message []byte) error { return l.send(name, message) })
	if l.peers == nil {
		l.peers = map[string]*wire.Peer{}
	}
	l.peers[name] = peer
	return peer, nil
}

func (l *lending) drop(name string, peer *wire.Peer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.peers[name] == peer {
		delete(l.peers, name)
	}
}

// message hands over what a server says. It does not wait.
func (l *lending) message(params json.RawMessage) error {
	var m stream.Message
	if err := remote.Strict(params, &m); err != nil {
		return err
	}
	l.mu.Lock()
	peer := l.peers[m.Server]
	l.mu.Unlock()
	if peer == nil {
		return remote.Gone("no server %q is served here: serve comes first", m.Server)
	}
	err := peer.Receive(m.Message)
	if errors.Is(err, wire.ErrNotConnected) {
		return remote.Gone("%s was disconnected", m.Server)
	}
	if err != nil {
		return remote.Invalid("message to %s: %v", m.Server, err)
	}
	return nil
}

// end says that the program sends nothing more: calls that run fail.
func (l *lending) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for _, p := range l.peers {
		p.End(inputEnded)
	}
}
