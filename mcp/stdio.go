package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/mcp/config"
)

// stdioTransport is the protocol library's transport over a process that jcode owns.
type stdioTransport struct{ conn *stdioConn }

// Connect returns the connection, once.
func (t stdioTransport) Connect(context.Context) (sdk.Connection, error) { return t.conn, nil }

// stdioConn carries messages over a server's pipes. A reader goroutine reads lines, a
// writer goroutine writes them, so that neither a server that doesn't read nor one that
// doesn't answer can hold up a cancel or a close.
type stdioConn struct {
	process *process
	tap     *tap
	log     *serverLog
	max     int

	in     chan jsonrpc.Message
	out    chan *outgoing
	closed chan struct{} // closed by Close
	ended  chan struct{} // closed when no message will come any more
	once   sync.Once

	limited bool // the reader's: its last wait had a limit
	exit    sync.Once
	drained time.Time // until when output is read after the end of the process, set by exit

	mu  sync.Mutex
	err error // why the stream ended, set before ended is closed
}

// outgoing is a frame on its way to the server.
type outgoing struct {
	data []byte
	x    *exchange
	// state decides between the writer, who takes it, and the sender, who gives it up.
	state atomic.Int32
	done  chan error
}

const (
	frameWaiting int32 = iota
	frameTaken
	frameGivenUp
)

func newStdioConn(p *process, log *serverLog, limit int) *stdioConn {
	if limit <= 0 {
		limit = config.DefaultMaxFrame
	}
	c := &stdioConn{
		process: p, tap: newTap(false), log: log, max: limit,
		in: make(chan jsonrpc.Message), out: make(chan *outgoing),
		closed: make(chan struct{}), ended: make(chan struct{}),
	}
	c.tap.doom = c.failRequest
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
	return idKey(raw)
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

// writeFailure prefers the reason for the server's end to "broken pipe".
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

const (
	// quietTime is how long a server may pause inside a message before what came is looked at.
	quietTime = 2 * time.Second
	// quietLines is how many such pauses end a line that never ends.
	quietLines = 3
)

func (c *stdioConn) read() {
	go c.watchExit()
	frames := newFrameReader(c.process.stdout, c.max)
	frames.limit = c.limitWait
	lines := assembler{owner: c}
	var pause pause
	for {
		f, err := frames.next(lines.holds())
		if errors.Is(err, errQuiet) {
			var usable bool
			if f, usable = c.paused(frames, &lines, &pause); !usable && !c.process.p.Ended() {
				continue
			}
		} else if err != nil {
			lines.giveUp()
			c.end(err)
			return
		}
		switch {
		case f.tooLong:
			lines.giveUp()
			if c.deliverTooLong(f) {
				continue
			}
		case f.size == 0: // a pause that is the end
			lines.giveUp()
		case lines.line(f.data, c.max):
			continue
		}
		c.end(nil)
		return
	}
}

// pause counts how often a server fell silent inside the same line.
type pause struct{ size, count int }

// paused decides about what was read of a message whose rest does not come. It returns a
// line that only lacks its end.
func (c *stdioConn) paused(frames *frameReader, lines *assembler, p *pause) (frame, bool) {
	if c.process.p.Ended() {
		f := frames.take()
		return f, f.size > 0
	}
	if f, whole := frames.takeValue(); whole {
		return f, true
	}
	size := frames.kept.size
	if size == 0 {
		lines.giveUp()
	}
	if p.size != size {
		*p = pause{size: size}
	}
	if p.count++; size > 0 && p.count == quietLines {
		c.tap.suspect(frames.kept.join(), nil)
	}
	return frame{}, false
}

// limitWait bounds the next wait for output where something unfinished was read, or the
// process has ended.
func (c *stdioConn) limitWait(unfinished bool) {
	if !unfinished && !c.limited {
		return // what bounds the end of the process needs no call
	}
	c.limited = unfinished
	var at time.Time
	if unfinished {
		at = time.Now().Add(quietTime)
	}
	_ = c.process.stdout.SetReadDeadline(at) // pipes have deadlines
	if c.process.p.Ended() {
		c.drain()
	}
}

// drain bounds what is read after the end of the process: what is in the pipe is there at
// once, and a grandchild may hold the pipe open for ever.
func (c *stdioConn) drain() {
	c.exit.Do(func() { c.drained = time.Now().Add(drainTime) })
	_ = c.process.stdout.SetReadDeadline(c.drained) // pipes have deadlines
}

// watchExit notices the end of the process itself: a grandchild may hold the pipe open.
func (c *stdioConn) watchExit() {
	select {
	case <-c.process.p.Done():
		c.drain()
	case <-c.ended:
	}
}

// message hands on one message; false when nobody reads any more.
func (c *stdioConn) message(e envelope) bool {
	msg, err := c.tap.see(e).message()
	if err != nil {
		c.log.skip(e.encode())
		return true
	}
	return e.method == "" && e.id == nil || c.push(msg)
}

// awaited reports whether an answer is waited for.
func (c *stdioConn) awaited(e envelope) bool {
	if e.method != "" {
		return e.id == nil && strings.HasPrefix(e.method, "notifications/")
	}
	return e.id != nil && (e.result != nil || e.err != nil) && c.tap.isPending(idKey(e.id))
}

// unusable notes output that is no message, and tells whoever waits for it.
func (c *stdioConn) unusable(data []byte) {
	if len(bytes.TrimSpace(data)) > 0 {
		c.log.skip(data)
		c.tap.suspect(data, nil)
	}
}

// failRequest answers a request that waits with a failure.
func (c *stdioConn) failRequest(id string, err error) {
	if !c.tap.isPending(id) {
		return
	}
	e := envelope{id: json.RawMessage(id), err: json.RawMessage(`{}`)}
	if id, failed := e.messageID(); failed == nil {
		c.tap.see(e)
		c.push(&jsonrpc.Response{ID: id, Error: err})
	}
}

func (c *stdioConn) deliverTooLong(f frame) bool {
	c.log.note("a message of %d bytes was discarded (limit %d)", f.size, c.max)
	if f.id == nil || !c.tap.isPending(idKey(f.id)) {
		return true
	}
	e := c.tap.response(envelope{id: f.id, err: json.RawMessage(`{}`)})
	id, err := e.messageID()
	if err != nil {
		return true
	}
	return c.push(&jsonrpc.Response{ID: id, Error: tooLargeError{c.max}})
}

func (c *stdioConn) push(msg jsonrpc.Message) bool {
	select {
	case c.in <- msg:
		return true
	case <-c.closed:
		return false
	}
}

// end records why no message will come any more.
func (c *stdioConn) end(err error) {
	reason := err
	select {
	case <-c.process.p.Done():
		reason = c.process.exitError()
	case <-c.closed:
	case <-time.After(drainTime):
		// Its stdout is closed and it lives: it can't be spoken to.
		reason = &faultError{text: "server closed its output", retry: retryExit, err: err}
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
