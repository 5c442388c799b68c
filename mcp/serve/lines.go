package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"jcode/internal/text"
)

// checkedLines passes on the lines of a client that contain a message; those of a batch one by one. Other lines are
// answered with an error and do not end the session. When the client closes its side, what it has asked for is still
// answered, within a limit; then the calls end.
type checkedLines struct {
	in    *bufio.Reader
	out   *lineWriter
	end   func()
	line  []byte
	ready [][]byte // messages to pass on
	err   error
}

// drain is how long requests may take to be answered after the input has ended.
const drain = 10 * time.Second

func newCheckedLines(in io.Reader, out *lineWriter, end func()) *checkedLines {
	return &checkedLines{in: bufio.NewReaderSize(in, 64<<10), out: out, end: end}
}

func (r *checkedLines) Read(p []byte) (int, error) {
	for len(r.line) == 0 {
		switch {
		case len(r.ready) > 0:
			r.line, r.ready = r.ready[0], r.ready[1:]
		case r.err != nil:
			if errors.Is(r.err, io.EOF) {
				r.out.settle(drain)
			}
			r.end()
			return 0, r.err
		default:
			r.next()
		}
	}
	n := copy(p, r.line)
	r.line = r.line[n:]
	return n, nil
}

// next reads a line.
func (r *checkedLines) next() {
	line, tooLong, err := r.readLine()
	data := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\xef\xbb\xbf")))
	switch {
	case tooLong:
		r.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("Invalid Request: the message is longer than %d bytes", maxLine))
	case len(data) == 0:
	case !json.Valid(data):
		quote := text.Ellipsis(text.Clean(text.Valid(string(data[:min(len(data), 200)]))), 100)
		r.refuse(jsonrpc.CodeParseError, "Parse error: the line is not JSON: "+quote)
	case data[0] == '[':
		var batch []json.RawMessage
		if err := json.Unmarshal(data, &batch); err != nil || len(batch) == 0 {
			r.refuse(jsonrpc.CodeInvalidRequest, "Invalid Request: an empty batch")
		}
		for _, message := range batch {
			r.pass(message)
		}
	default:
		r.pass(data)
	}
	if err != nil {
		r.err = err
	}
}

// maxLine is the longest line that is kept.
const maxLine = 64 << 20

// readLine returns the next line. Longer lines than maxLine are discarded.
func (r *checkedLines) readLine() (line []byte, tooLong bool, err error) {
	for {
		part, err := r.in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxLine; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

// pass passes on a message, or answers what is none.
func (r *checkedLines) pass(data []byte) {
	message, fault := jsonrpc.DecodeMessage(data)
	if fault != nil {
		r.refuse(jsonrpc.CodeInvalidRequest, "Invalid Request: "+text.Clean(text.Valid(fault.Error())))
		return
	}
	if req, ok := message.(*jsonrpc.Request); ok && req.IsCall() && !r.out.expect(req.ID) {
		r.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("Invalid Request: a request with the ID %v is not answered yet: every request needs an ID of its own", req.ID.Raw()))
		return
	}
	var line bytes.Buffer
	if json.Compact(&line, data) == nil { // a batch may have had line breaks of another kind
		r.ready = append(r.ready, append(line.Bytes(), '\n'))
	}
}

// refuse answers a line that is not a message with an error.
func (r *checkedLines) refuse(code int64, why string) {
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why}})
	if err == nil {
		_, err = r.out.Write(append(answer, '\n'))
	}
	if err != nil {
		r.err = err
	}
}

func (r *checkedLines) Close() error { return nil }

// lineWriter writes whole lines, and knows which requests are not answered yet. It is safe for concurrent use.
type lineWriter struct {
	mu      sync.Mutex
	out     io.Writer
	waiting map[jsonrpc.ID]bool
	idle    chan struct{} // closed when nothing waits any more; nil while nobody waits for that
	failed  bool
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.out.Write(p)
	if m, fault := jsonrpc.DecodeMessage(bytes.TrimSpace(p)); fault == nil {
		if res, ok := m.(*jsonrpc.Response); ok {
			delete(w.waiting, res.ID)
		}
	}
	w.failed = w.failed || err != nil // nobody reads any more
	if w.idle != nil && (len(w.waiting) == 0 || w.failed) {
		close(w.idle)
		w.idle = nil
	}
	return n, err
}

// expect records a request that will be answered; false says that one of its ID waits already.
func (w *lineWriter) expect(id jsonrpc.ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[id] {
		return false
	}
	if w.waiting == nil {
		w.waiting = map[jsonrpc.ID]bool{}
	}
	w.waiting[id] = true
	return true
}

// settle waits until all requests are answered.
func (w *lineWriter) settle(limit time.Duration) {
	w.mu.Lock()
	if len(w.waiting) == 0 || w.failed {
		w.mu.Unlock()
		return
	}
	w.idle = make(chan struct{})
	idle := w.idle
	w.mu.Unlock()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-idle:
	case <-late.C:
	}
}

func (w *lineWriter) Close() error { return nil }
