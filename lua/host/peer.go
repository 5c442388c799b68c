package host

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"jcode/lua/wire"
)

// peer is the other side of the pipes: what is sent there, and the calls that it answers. The goroutine that runs
// Lua sends; the one that reads hands replies over, and cancels.
type peer struct {
	out     io.Writer
	replies chan *wire.Message
	// stop is closed when the current work is cancelled, which ends a wait for a reply.
	stop     chan struct{}
	stopped  atomic.Bool
	meter    *meter
	nextCall int64
	writeErr error
}

func newPeer(out io.Writer, m *meter) *peer {
	return &peer{out: out, replies: make(chan *wire.Message, 1), stop: make(chan struct{}), meter: m}
}

// cancel ends the running work. The host is never used again after that.
func (p *peer) cancel() {
	p.meter.cancel.Store(true)
	if !p.stopped.Swap(true) {
		close(p.stop)
	}
}

func (p *peer) send(m *wire.Message) {
	if err := wire.Write(p.out, m); err != nil && p.writeErr == nil {
		p.writeErr = err
	}
}

// call calls the other side and waits for its reply.
func (p *peer) call(name string, args []any) (*wire.Message, error) {
	if p.stopped.Load() {
		p.meter.stop(errCancelled)
		return nil, errCancelled
	}
	p.nextCall++
	id := p.nextCall
	if err := wire.Write(p.out, &wire.Message{Type: wire.TypeCall, ID: id, Name: name, Value: args}); err != nil {
		if errors.Is(err, wire.ErrTooLong) {
			return nil, err
		}
		p.writeErr = err
		return nil, err
	}
	select {
	case m := <-p.replies:
		if m.ID != id {
			return nil, fmt.Errorf("reply %d to call %d", m.ID, id)
		}
		return m, nil
	case <-p.stop:
		p.meter.stop(errCancelled) // not even a pcall continues from here
		return nil, errCancelled
	}
}
