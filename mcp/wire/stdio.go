package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// stdioTransport is the protocol library's transport over a process that jcode owns.
type stdioTransport struct{ conn *stdioConn }

// Connect returns the connection, once.
func (t stdioTransport) Connect(context.Context) (sdk.Connection, error) { return t.conn, nil }

// stdioConn carries messages over a server's pipes. One goroutine reads lines and another writes
// them, so that a server that doesn't read or doesn't answer can't delay a cancel or a close.
type stdioConn struct {
	process *process
	tap     *Tap
	log     *Log
	max     int

	in     chan jsonrpc.Message
	out    chan *outgoing
	closed chan struct{} // closed by Close
	ended  chan struct{} // closed when no more messages will arrive
	once   sync.Once

	limited bool // the reader's: its last wait had a limit
	exit    sync.Once
	drained time.Time // until when output is read after the end of the process, set by exit

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

func newStdioConn(p *process, log *Log, limit int) *stdioConn {
	c := &stdioConn{
		process: p, tap: newTap(false), log: log, max: limit,
		in: make(chan jsonrpc.Message), out: make(chan *outgoing),
		closed: make(chan struct{}), ended: make(chan struct{}),
	}
	c.tap.doom = func(id string, err error) { c.failRequest(id, err) }
	go c.read()
	go c.write()
	return c
}

// SessionID is empty: stdio has no sessions.
func (c *stdioConn) SessionID() string { return "" }

// Read returns the next message.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
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
func (c *stdioConn) Write(ctx context.Context, msg jsonrpc.Message) error {
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

func (c *stdioConn) send(ctx context.Context, frame *outgoing) error {
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

// Close ends the connection at once; the process is ended in the background.
func (c *stdioConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.process.stop()
	})
	return nil
}

func (c *stdioConn) write() {
	for {
		select {
		case frame := <-c.out:
			if !frame.state.CompareAndSwap(frameWaiting, frameTaken) {
				continue
			}
			frame.x.markSent()
			_, err := c.process.stdin.Write(frame.data)
			if err != nil {
				err = c.writeFailure(err)
			}
			frame.done <- err
		case <-c.closed:
			return
		case <-c.ended:
			return
		}
	}
}

// writeFailure returns the reason for the server's end, if known, instead of "broken pipe".
func (c *stdioConn) writeFailure(err error) error {
	select {
	case <-c.closed:
		return io.ErrClosedPipe
	case <-c.ended:
		return c.failure()
	case <-time.After(2 * drainTime):
		return fmt.Errorf("the server closed its input: %w", err)
	}
}

// end records why no more messages will arrive.
func (c *stdioConn) end(err error) {
	reason := err
	select {
	case <-c.process.p.Done():
		reason = c.process.exitError()
	case <-c.closed:
	case <-time.After(drainTime):
		// Its stdout is closed but it still runs: it can't be used any more.
		reason = &Fault{Text: "server closed its output", Retry: RetryExit, Err: err}
	}
	select {
	case <-c.closed: // a server that ends because it was closed has not exited by itself
		reason = io.EOF
	default:
	}
	c.mu.Lock()
	c.err = reason
	c.mu.Unlock()
	close(c.ended)
}

func (c *stdioConn) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return io.EOF
	}
	return c.err
}
