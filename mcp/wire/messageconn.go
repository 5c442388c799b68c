package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messageConn carries a server's messages as frames, for the protocol library. One goroutine writes them, so that a server
// that doesn't read can't delay a cancel or a close.
type messageConn struct {
	tap *Tap
	log *Log
	put func(frame []byte) error // writes a frame

	in     chan jsonrpc.Message
	out    chan *outgoing
	closed chan struct{} // closed by the owner, who wants no more
	ended  chan struct{} // closed when no more messages will arrive

	mu  sync.Mutex
	err error // why the stream ended, set before ended is closed
}

// outgoing is a frame to be written to the server.
type outgoing struct {
	data []byte
	x    *Exchange
	// state decides whether the writer takes the frame or the sender withdraws it.
	state atomic.Int32
	done  chan error
}

const (
	frameWaiting int32 = iota
	frameTaken
	frameGivenUp
)

// newMessageConn returns a connection that writes frames with put. waiting is how many messages of the server may wait for
// the library.
func newMessageConn(log *Log, waiting int, put func([]byte) error) *messageConn {
	c := &messageConn{
		tap: newTap(false), log: log, put: put,
		in: make(chan jsonrpc.Message, waiting), out: make(chan *outgoing), closed: make(chan struct{}), ended: make(chan struct{}),
	}
	go c.write()
	return c
}

// SessionID is empty: frames have no sessions.
func (c *messageConn) SessionID() string { return "" }

// Read returns the next message.
func (c *messageConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.in:
		return m, nil
	default:
	}
	select {
	case m := <-c.in:
		return m, nil
	case <-c.closed:
		return nil, io.EOF
	case <-c.ended:
		return nil, c.failure()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write hands a message to the writer and waits until it is written or ctx ends.
func (c *messageConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	frame := &outgoing{data: append(data, '\n'), done: make(chan error, 1)}
	var key string
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		key = idText(req.ID)
		frame.x = exchangeOf(ctx, req.Method)
		c.tap.request(key, req.Method, frame.x)
	}
	err = c.send(ctx, frame)
	if err != nil && key != "" {
		c.tap.forget(key)
	}
	return err
}

func (c *messageConn) send(ctx context.Context, frame *outgoing) error {
	select {
	case c.out <- frame:
	case <-c.closed:
		return io.ErrClosedPipe
	case <-c.ended:
		return c.failure()
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-frame.done:
		return err
	case <-ctx.Done():
		frame.state.CompareAndSwap(frameWaiting, frameGivenUp)
		return ctx.Err()
	case <-c.closed:
		return io.ErrClosedPipe
	}
}

// idText is the tap's key of an id that the library chose.
func idText(id jsonrpc.ID) string {
	raw, err := json.Marshal(id.Raw())
	if err != nil {
		return ""
	}
	return IDKey(raw)
}

func (c *messageConn) write() {
	for {
		select {
		case frame := <-c.out:
			if !frame.state.CompareAndSwap(frameWaiting, frameTaken) {
				continue
			}
			frame.x.markSent()
			frame.done <- c.put(frame.data)
		case <-c.closed:
			return
		case <-c.ended:
			return
		}
	}
}

func (c *messageConn) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return io.EOF
	}
	return c.err
}

// message delivers one message; it returns false when no more are wanted.
func (c *messageConn) message(e envelope) bool {
	msg, err := c.tap.see(e).message()
	if err != nil {
		c.log.skip(e.encode())
		return true
	}
	return e.method == "" && e.id == nil || c.push(msg)
}

func (c *messageConn) push(msg jsonrpc.Message) bool {
	select {
	case c.in <- msg:
		return true
	case <-c.closed:
		return false
	}
}

// finish says why no more messages will arrive.
func (c *messageConn) finish(reason error) {
	c.mu.Lock()
	c.err = reason
	c.mu.Unlock()
	close(c.ended)
}
