package wire

import (
	"context"
	"errors"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Peer is a server at the other end of a line that carries other things too: its messages are handed in and out one by
// one. It is safe for concurrent use.
type Peer struct {
	send func(message []byte) error

	mu   sync.Mutex
	conn *peerConn // the newest one
	over error     // why nothing more comes
}

// NewPeer returns a server that is sent messages by send, which may wait.
func NewPeer(send func(message []byte) error) *Peer { return &Peer{send: send} }

// waitingMessages is how many messages of a peer may wait to be read.
const waitingMessages = 4096

// ErrNotConnected is the answer to a message that nobody waits for.
var ErrNotConnected = errors.New("it is not connected")

// Receive takes a message of the server. It does not wait.
func (p *Peer) Receive(message []byte) error {
	list, err := readEnvelopes(message)
	if err != nil {
		return err
	}
	p.mu.Lock()
	c := p.conn
	p.mu.Unlock()
	if c == nil {
		return ErrNotConnected
	}
	for _, e := range list {
		if err := c.take(e); err != nil {
			return err
		}
	}
	return nil
}

// End says that nothing more comes, and why: what runs fails with it.
func (p *Peer) End(why string) {
	p.mu.Lock()
	p.over = Permanentf("%s", why)
	c, over := p.conn, p.over
	p.mu.Unlock()
	if c != nil {
		c.lose(over)
	}
}

// OpenPeer connects to a peer.
func (h *Host) OpenPeer(p *Peer, log *Log) (*PeerLink, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over != nil {
		return nil, p.over
	}
	p.conn = &peerConn{messageConn: newMessageConn(log, waitingMessages, p.send)}
	l := &PeerLink{p.conn}
	h.add(l)
	return l, nil
}

// peerConn is one connection to a peer.
type peerConn struct {
	*messageConn
	closing, losing sync.Once
}

// Connect returns the connection, once.
func (c *peerConn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// Close ends the connection. The peer is not told.
func (c *peerConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return nil
}

// take hands a message to the library. A peer that sends faster than that reads is given up.
func (c *peerConn) take(e envelope) error {
	select {
	case <-c.closed:
		return ErrNotConnected
	case <-c.ended:
		return ErrNotConnected
	default:
	}
	if len(c.in) == cap(c.in) { // only its owner's one goroutine adds messages
		c.lose(Permanentf("it sent more than %d messages before the first of them was read", waitingMessages))
		return c.failure()
	}
	c.message(e)
	return nil
}

func (c *peerConn) lose(why error) {
	c.losing.Do(func() { c.finish(why) })
}

// PeerLink is a connection to a peer as a link.
type PeerLink struct{ conn *peerConn }

func (l *PeerLink) Transport() sdk.Transport { return l.conn }
func (l *PeerLink) Tap() *Tap                { return l.conn.tap }
func (l *PeerLink) Close()                   { _ = l.conn.Close() } // never fails
func (l *PeerLink) Kill()                    { l.Close() }
func (l *PeerLink) Gone() <-chan struct{}    { return l.conn.closed }
func (l *PeerLink) Lost() <-chan struct{}    { return l.conn.ended }
func (l *PeerLink) Reason() error            { return l.conn.failure() }
func (l *PeerLink) Notifies() bool           { return true }
func (l *PeerLink) PID() int                 { return 0 }

// HandshakeError returns why a handshake over l failed with err.
func (l *PeerLink) HandshakeError(err error) error {
	select {
	case <-l.conn.ended:
		return l.Reason()
	default:
	}
	if refusal := versionError(err); refusal != nil {
		return refusal
	}
	return err
}
