package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/creachadair/jrpc2"
)

// Client speaks to the server of a process. It hands on notifications in the order in which they came, which clients of
// JSON-RPC usually do not.
type Client struct {
	Welcome Welcome
	Started time.Time // when the process began to listen; zero where that is not known

	lines   *lines
	read    sync.WaitGroup
	sending sync.Mutex // one message at a time

	mu       sync.Mutex
	handlers Handlers
	last     int64
	pending  map[int64]chan reply
	err      error // why the connection ended, nil while it lives
}

// reply is the answer to a call.
type reply struct {
	result json.RawMessage
	err    error
}

// message is whatever comes from a server.
type message struct {
	ID     *int64          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// request is a call.
type request struct {
	JSONRPC string `json:"jsonrpc"`
	ID      int64  `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

// Handlers receive what a server sends, one thing at a time. They must not wait for a call of the client.
type Handlers struct {
	Event func(Event)
	Ended func(Ended)
	Draw  func(Draw)
	Left  func(Left)
	// Stopped is called when the connection has ended.
	Stopped func(error)
}

// ErrNotAdmitted is returned where a server hangs up on a client at once.
var ErrNotAdmitted = errors.New("it hung up: a program that jcode started itself, or another user's, may not speak to it")

// ErrEnded is returned by calls on a connection that has ended.
var ErrEnded = errors.New("the connection has ended")

// Connect says hello on a connection, which the client closes. The handlers hear of nothing if that fails.
func Connect(ctx context.Context, nc net.Conn, hello Hello, h Handlers) (*Client, error) {
	c := &Client{lines: &lines{conn: nc, in: bufio.NewReader(nc), max: func() int { return maxFromServer }}, pending: map[int64]chan reply{}}
	c.read.Go(c.receive)
	hello.Version = Version
	if err := c.Call(ctx, "hello", hello, &c.Welcome); err != nil {
		c.Close()
		if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
			err = ErrNotAdmitted
		}
		return nil, err
	}
	if c.Welcome.Version != Version {
		c.Close()
		return nil, fmt.Errorf("jcode %s (process %d) speaks version %d of the session protocol, this one %d: restart the older one", c.Welcome.Jcode, c.Welcome.Pid, c.Welcome.Version, Version)
	}
	c.listen(h)
	return c, nil
}

// listen has handlers hear of everything from now on, also that the connection has ended already.
func (c *Client) listen(h Handlers) {
	c.mu.Lock()
	c.handlers = h
	err := c.err
	c.mu.Unlock()
	if err != nil && h.Stopped != nil {
		h.Stopped(err)
	}
}

// errUnknown is a server's answer to a method of another version.
var errUnknown = errors.New("method not found")

// receive hands on what comes until the connection ends.
func (c *Client) receive() {
	for {
		line, err := c.lines.Recv()
		var m message
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		if err != nil {
			c.stop(err)
			return
		}
		if m.ID == nil {
			c.notify(m)
			continue
		}
		r := reply{result: m.Result}
		if m.Error != nil {
			r.err = errors.New(m.Error.Message)
			if m.Error.Code == int(jrpc2.MethodNotFound) {
				r.err = errUnknown
			}
		}
		c.mu.Lock()
		waiting := c.pending[*m.ID]
		delete(c.pending, *m.ID)
		c.mu.Unlock()
		if waiting != nil {
			waiting <- r
		}
	}
}

// stop ends all calls with an error.
func (c *Client) stop(err error) {
	err = fmt.Errorf("%w: %w", ErrEnded, err)
	_ = c.lines.Close() // it may be closed already
	c.mu.Lock()
	c.err = err
	pending, stopped := c.pending, c.handlers.Stopped
	c.pending = nil
	c.mu.Unlock()
	for _, waiting := range pending {
		waiting <- reply{err: err}
	}
	if stopped != nil {
		stopped(err)
	}
}

// notify passes a notification on. One of a newer server is left out, and what cannot be read as well.
func (c *Client) notify(m message) {
	c.mu.Lock()
	h := c.handlers
	c.mu.Unlock()
	switch m.Method {
	case NoteEvent:
		handle(m.Params, h.Event)
	case NoteEnded:
		handle(m.Params, h.Ended)
	case NoteDraw:
		handle(m.Params, h.Draw)
	case NoteLeft:
		handle(m.Params, h.Left)
	}
}

func handle[T any](params json.RawMessage, f func(T)) {
	var v T
	if f != nil && json.Unmarshal(params, &v) == nil {
		f(v)
	}
}

// Call calls a method and decodes its result; a nil result is ignored.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	waiting := make(chan reply, 1)
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return c.err
	}
	c.last++
	id := c.last
	c.pending[id] = waiting
	c.mu.Unlock()
	data, err := json.Marshal(request{"2.0", id, method, params})
	if err != nil {
		return err // a fault of the program
	}
	c.sending.Lock() // not mu: what comes is read meanwhile, or both sides could wait for each other
	err = c.lines.Send(data)
	c.sending.Unlock()
	if err != nil {
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
		return fmt.Errorf("%w: %w", ErrEnded, err)
	}
	select {
	case r := <-waiting:
		if errors.Is(r.err, errUnknown) {
			return fmt.Errorf("jcode %s (process %d) cannot do this (%s): end it, and continue its session in this version", c.Welcome.Jcode, c.Welcome.Pid, method)
		}
		if r.err != nil || result == nil {
			return r.err
		}
		return json.Unmarshal(r.result, result)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the connection and waits until no handler is called any more.
func (c *Client) Close() {
	_ = c.lines.Close() // it may be closed already
	c.read.Wait()
}
