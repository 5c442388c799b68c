package protocol

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"jcode/internal/text"
)

const (
	maxMessage = 64 << 20 // bytes of one message
	maxJunk    = 1 << 20  // bytes between two messages that are not messages
	maxQueue   = 64       // messages that wait to be written
)

// ErrClosed is the error of a connection that was closed in order.
var ErrClosed = errors.New("the connection is closed")

// message is one JSON-RPC message, of any kind.
type message struct {
	JSONRPC string           `json:"jsonrpc"`
	ID      *json.RawMessage `json:"id,omitempty"`
	Method  string           `json:"method,omitempty"`
	Params  json.RawMessage  `json:"params,omitempty"`
	Result  json.RawMessage  `json:"result,omitempty"`
	Error   *Error           `json:"error,omitempty"`
}

// Error is a server's refusal of a request.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// The JSON-RPC and protocol error codes that jcode handles.
const (
	CodeMethodNotFound  = -32601
	CodeContentModified = -32801
	CodeServerCancelled = -32802
)

func (e *Error) Error() string { return text.Cut(text.OneLine(e.Message), 500) }

// Conn is one JSON-RPC connection. Reading and writing each have a goroutine, which ends with its
// stream: the creator of the connection closes the streams.
type Conn struct {
	handle func(method string, params json.RawMessage) (any, *Error)
	out    chan []byte
	done   chan struct{} // closed when reading has ended

	mu      sync.Mutex
	next    int
	pending map[string]chan message
	err     error
}

// NewConn starts a connection. handle answers requests and takes notifications, in order; it
// must not block.
func NewConn(r io.Reader, w io.Writer, handle func(string, json.RawMessage) (any, *Error)) *Conn {
	c := &Conn{handle: handle, out: make(chan []byte, maxQueue), done: make(chan struct{}), pending: map[string]chan message{}}
	go c.write(w)
	go c.read(r)
	return c
}

func (c *Conn) write(w io.Writer) {
	for {
		select {
		case b := <-c.out:
			if _, err := w.Write(b); err != nil {
				c.Fail(fmt.Errorf("write to the server: %w", err))
				return
			}
		case <-c.done:
			return
		}
	}
}

func (c *Conn) read(r io.Reader) {
	defer close(c.done)
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		body, err := readMessage(br)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = ErrClosed
			}
			c.Fail(err)
			return
		}
		var m message
		if json.Unmarshal(body, &m) != nil {
			continue // not JSON: callers that wait for an answer have a limit
		}
		switch {
		case m.Method != "":
			result, werr := c.handle(m.Method, m.Params)
			if m.ID != nil {
				c.answer(*m.ID, result, werr)
			}
		case m.ID != nil:
			c.mu.Lock()
			reply := c.pending[string(*m.ID)]
			delete(c.pending, string(*m.ID))
			c.mu.Unlock()
			if reply != nil {
				reply <- m
			}
		}
	}
}

// readMessage reads one message, and skips lines that are not headers.
func readMessage(br *bufio.Reader) ([]byte, error) {
	length, junk := -1, 0
	for {
		line, err := br.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		header := strings.TrimSpace(string(line))
		// A program may print to its standard output without a line break.
		if i := strings.Index(strings.ToLower(header), "content-length:"); i >= 0 {
			n, err := strconv.Atoi(strings.TrimSpace(header[i+len("content-length:"):]))
			if err != nil || n < 0 || n > maxMessage {
				return nil, fmt.Errorf("the server sent a message of %q bytes", header[i+len("content-length:"):])
			}
			length = n
			continue
		}
		if header == "" && length >= 0 {
			break
		}
		if junk += len(line); junk > maxJunk {
			return nil, errors.New("the server writes something that is not the protocol")
		}
	}
	body := make([]byte, length)
	_, err := io.ReadFull(br, body)
	return body, err
}

// Done is closed when nothing more comes.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Fail ends all calls that wait for an answer.
func (c *Conn) Fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	for id, reply := range c.pending {
		delete(c.pending, id)
		close(reply)
	}
}

func (c *Conn) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return ErrClosed
	}
	return c.err
}

func (c *Conn) send(ctx context.Context, m message) error {
	b, err := frame(m)
	if err != nil {
		return err
	}
	select {
	case c.out <- b:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the server does not read: %w", ctx.Err())
	case <-c.done:
		return c.failure()
	}
}

// answer replies to a request of the server. It does not wait for a server that does not read.
func (c *Conn) answer(id json.RawMessage, result any, werr *Error) {
	m := message{ID: &id, Error: werr}
	if werr == nil {
		var err error
		if m.Result, err = json.Marshal(result); err != nil {
			m.Error = &Error{Code: -32603, Message: err.Error()}
		}
	}
	c.offer(m)
}

// offer sends a message if there is room for it in the queue.
func (c *Conn) offer(m message) {
	b, err := frame(m)
	if err != nil {
		return
	}
	select {
	case c.out <- b:
	default:
	}
}

// Notify sends a notification.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return c.send(ctx, message{Method: method, Params: raw})
}

// Call sends a request and decodes its result into result. A request whose time is over is
// cancelled at the server.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return c.failure()
	}
	c.next++
	id := json.RawMessage(strconv.Itoa(c.next))
	reply := make(chan message, 1)
	c.pending[string(id)] = reply
	c.mu.Unlock()
	forget := func() {
		c.mu.Lock()
		delete(c.pending, string(id))
		c.mu.Unlock()
	}
	if err := c.send(ctx, message{ID: &id, Method: method, Params: raw}); err != nil {
		forget()
		return err
	}
	select {
	case m, ok := <-reply:
		switch {
		case !ok:
			return c.failure()
		case m.Error != nil:
			return m.Error
		case result == nil || len(m.Result) == 0:
			return nil
		}
		if err := json.Unmarshal(m.Result, result); err != nil {
			return fmt.Errorf("the answer to %s can't be read: %w", method, err)
		}
		return nil
	case <-ctx.Done():
		forget()
		c.offer(message{Method: "$/cancelRequest", Params: fmt.Appendf(nil, `{"id":%s}`, id)})
		return ctx.Err()
	}
}

// frame returns a message with its header.
func frame(m message) ([]byte, error) {
	m.JSONRPC = "2.0"
	body, err := json.Marshal(m)
	return fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(body), body), err
}
