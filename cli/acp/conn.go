package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/coder/acp-go-sdk"

	"jcode/internal/jsonerr"
	"jcode/internal/rawjson"
	"jcode/internal/text"
)

// maxMessage bounds one message from the client, in bytes. A larger one is answered with an error and
// skipped.
const maxMessage = 64 << 20

// errDisconnected ends everything that waits for a client that is gone.
var errDisconnected = errors.New("the client has disconnected")

// handler handles the client's messages. Both methods are called on the reading goroutine, in the order in
// which the messages arrived, and must return at once.
type handler interface {
	// request starts a request and returns a func that finishes it on a goroutine of its own.
	request(ctx context.Context, method string, params json.RawMessage) func() (any, error)
	notification(method string, params json.RawMessage)
}

// conn is one JSON-RPC connection over lines. Its methods are safe for concurrent use.
type conn struct {
	in      *bufio.Reader
	handler handler

	writing sync.Mutex
	out     io.Writer
	broken  func(error) // ends the connection: the client cannot be written to

	mu      sync.Mutex
	next    int64
	waiting map[string]chan message            // our requests, by ID
	running map[string]context.CancelCauseFunc // the client's requests, by ID
	work    sync.WaitGroup
}

// message is any JSON-RPC message.
type message struct {
	JSONRPC string            `json:"jsonrpc"`
	ID      json.RawMessage   `json:"id,omitempty"`
	Method  string            `json:"method,omitempty"`
	Params  json.RawMessage   `json:"params,omitempty"`
	Result  json.RawMessage   `json:"result,omitempty"`
	Error   *acp.RequestError `json:"error,omitempty"`
}

func newConn(in io.Reader, out io.Writer) *conn {
	return &conn{
		in: bufio.NewReaderSize(in, 64<<10), out: out,
		waiting: map[string]chan message{}, running: map[string]context.CancelCauseFunc{},
	}
}

// serve reads messages until the client closes its end or ctx ends, then cancels what is running and waits
// for it. The error is nil at the end of the input.
func (c *conn) serve(ctx context.Context, h handler) error {
	c.handler = h
	ctx, cancel := context.WithCancelCause(ctx)
	c.broken = func(err error) { cancel(fmt.Errorf("write to the client: %w", err)) }
	lines := make(chan line)
	go c.read(ctx, lines) // a read of stdin cannot be cancelled: it ends with the process
	var err error
	for open := true; open; {
		select {
		case l, ok := <-lines:
			if !ok || l.err != nil {
				open = false
				if ok && !errors.Is(l.err, io.EOF) {
					err = fmt.Errorf("read from the client: %w", l.err)
				}
				break
			}
			c.take(ctx, l)
		case <-ctx.Done():
			open, err = false, context.Cause(ctx)
		}
	}
	cancel(errDisconnected)
	within(closeWait, c.work.Wait)
	return err
}

// line is one line of input.
type line struct {
	text    []byte
	tooLong bool
	// request and response are the id of what is too long, nil if it is none.
	request, response json.RawMessage

	err error
}

func (c *conn) read(ctx context.Context, lines chan<- line) {
	for {
		l := c.readLine()
		select {
		case lines <- l:
		case <-ctx.Done():
			return
		}
		if l.err != nil {
			return
		}
	}
}

// readLine reads a line of any length; what exceeds the limit is discarded.
func (c *conn) readLine() line {
	var l line
	var finder rawjson.IDFinder
	for {
		chunk, err := c.in.ReadSlice('\n')
		switch {
		case l.tooLong:
			finder.Feed(chunk)
		case len(l.text)+len(chunk) > maxMessage:
			finder.Feed(l.text)
			finder.Feed(chunk)
			l.tooLong, l.text = true, nil
		default:
			l.text = append(l.text, chunk...)
		}
		l.request, l.response = finder.Request(), finder.Response()
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (l.tooLong || len(l.text) > 0): // a last line without a line end
			return l
		}
		l.err = err
		return l
	}
}

// take handles one line.
func (c *conn) take(ctx context.Context, l line) {
	if l.tooLong {
		tooLong := &acp.RequestError{Code: -32600, Message: fmt.Sprintf("Invalid request: a message may have %d MiB", maxMessage>>20)}
		if l.response == nil || !c.answered(string(l.response), message{Error: tooLong}) {
			c.fail(l.request, tooLong)
		}
		return
	}
	said := bytes.TrimSpace(bytes.TrimPrefix(l.text, []byte("\xef\xbb\xbf")))
	if len(said) == 0 {
		return
	}
	var m message
	if err := json.Unmarshal(said, &m); err != nil {
		if _, syntax := errors.AsType[*json.SyntaxError](err); syntax {
			c.fail(nil, &acp.RequestError{Code: -32700, Message: "Parse error: one line must hold one JSON object: " + err.Error()})
		} else {
			c.fail(nil, &acp.RequestError{Code: -32600, Message: "Invalid request: one line must hold one JSON-RPC object"})
		}
		return
	}
	id := string(bytes.TrimSpace(m.ID))
	if id == "null" {
		id = ""
	}
	switch {
	case m.Method == "" && id != "":
		c.answered(id, m)
	case m.Method == "":
		c.fail(nil, &acp.RequestError{Code: -32600, Message: "Invalid request: neither a method nor an answer to a request"})
	case m.Method == "$/cancel_request":
		c.cancelRequest(m.Params)
	case id == "":
		c.handler.notification(m.Method, m.Params)
	case id[0] == '{' || id[0] == '[':
		c.fail(nil, &acp.RequestError{Code: -32600, Message: "Invalid request: an id is a string or a number"})
	default:
		c.begin(ctx, id, m)
	}
}

// begin starts a request of the client and answers it when it is done.
func (c *conn) begin(ctx context.Context, id string, m message) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	if c.running[id] != nil {
		c.mu.Unlock()
		cancel(nil)
		c.fail(m.ID, &acp.RequestError{Code: -32600, Message: "Invalid request: a request with this id is still running"})
		return
	}
	c.running[id] = cancel
	c.mu.Unlock()
	finish := c.handler.request(ctx, m.Method, m.Params)
	c.work.Go(func() {
		result, err := finish()
		c.mu.Lock()
		delete(c.running, id)
		c.mu.Unlock()
		cancel(nil)
		if err != nil {
			c.fail(m.ID, asRequestError(err))
			return
		}
		var after func()
		if a, is := result.(afterwards); is {
			result, after = a.result, a.begin
		}
		raw, err := json.Marshal(result)
		if err != nil {
			c.fail(m.ID, asRequestError(fmt.Errorf("encode the result of %s: %w", m.Method, err)))
			return
		}
		c.send(message{ID: m.ID, Result: raw})
		if after != nil {
			after()
		}
	})
}

// afterwards is a result with something that begins once the client has it.
type afterwards struct {
	result any
	begin  func()
}

// cancelRequest cancels a running request; an unknown one has been answered.
func (c *conn) cancelRequest(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return // a notification has no answer
	}
	c.mu.Lock()
	cancel := c.running[string(bytes.TrimSpace(p.RequestID))]
	c.mu.Unlock()
	if cancel != nil {
		cancel(context.Canceled)
	}
}

// answered passes an answer to the request that waits for it, and reports whether one does.
func (c *conn) answered(id string, m message) bool {
	c.mu.Lock()
	ch := c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()
	if ch != nil {
		ch <- m
	}
	return ch != nil
}

// call sends a request to the client and decodes its result into out. When ctx ends first, the client is told
// that the answer is no longer needed.
func (c *conn) call(ctx context.Context, method string, params, out any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("encode %s: %w", method, err)
	}
	ch := make(chan message, 1)
	c.mu.Lock()
	c.next++
	id := strconv.FormatInt(c.next, 10)
	c.waiting[id] = ch
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	c.send(message{ID: json.RawMessage(id), Method: method, Params: raw})
	select {
	case m := <-ch:
		if m.Error != nil {
			return fmt.Errorf("%s: %s (%d)%s", method, m.Error.Message, m.Error.Code, errorData(m.Error.Data))
		}
		if err := json.Unmarshal(m.Result, out); err != nil {
			return fmt.Errorf("%s: the client's answer cannot be read: %w", method, jsonerr.Plain(err))
		}
		return nil
	case <-ctx.Done():
		c.notify("$/cancel_request", map[string]any{"requestId": json.RawMessage(id)})
		return context.Cause(ctx)
	}
}

// errorData is what an error says besides its message.
func errorData(data any) string {
	if data == nil {
		return ""
	}
	if s, is := data.(string); is {
		return ": " + text.Cut(s, 500)
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return ""
	}
	return ": " + text.Cut(string(raw), 500)
}

// notify sends a notification.
func (c *conn) notify(method string, params any) {
	raw, err := json.Marshal(params)
	if err != nil { // our own types
		raw, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	c.send(message{Method: method, Params: raw})
}

// fail answers a request with an error; a nil ID means one that could not be read.
func (c *conn) fail(id json.RawMessage, err *acp.RequestError) {
	if id == nil {
		id = json.RawMessage("null")
	}
	c.send(message{ID: id, Error: err})
}

// send writes one message as one line.
func (c *conn) send(m message) {
	m.JSONRPC = "2.0"
	var b bytes.Buffer
	e := json.NewEncoder(&b) // ends the line, and escapes U+2028 and U+2029
	e.SetEscapeHTML(false)
	err := e.Encode(m)
	if err == nil {
		c.writing.Lock()
		_, err = c.out.Write(b.Bytes())
		c.writing.Unlock()
	}
	if err != nil {
		c.broken(err)
	}
}

// asRequestError converts an error for the client: a code, and a sentence.
func asRequestError(err error) *acp.RequestError {
	var known *acp.RequestError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return &acp.RequestError{Code: -32800, Message: "Request cancelled"}
	case errors.Is(err, ErrAuthRequired):
		return &acp.RequestError{Code: -32000, Message: "Authentication required: " + err.Error()}
	}
	return &acp.RequestError{Code: -32603, Message: err.Error()}
}

func invalid(format string, args ...any) error {
	return &acp.RequestError{Code: -32602, Message: "Invalid params: " + fmt.Sprintf(format, args...)}
}
