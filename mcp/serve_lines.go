package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"jcode/internal/text"
)

// checkedLines passes the lines of a client on that hold a message. Others are answered
// with an error, so that one bad line costs nothing else. It ends the calls when the
// client's side is closed.
type checkedLines struct {
	in   *frameReader
	out  *lineWriter
	end  func()
	line []byte
	err  error
}

func newCheckedLines(in io.Reader, out *lineWriter, end func()) *checkedLines {
	return &checkedLines{in: newFrameReader(in, defaultMaxFrame), out: out, end: end}
}

func (r *checkedLines) Read(p []byte) (int, error) {
	for len(r.line) == 0 {
		if r.err != nil {
			r.end()
			return 0, r.err
		}
		r.next()
	}
	n := copy(p, r.line)
	r.line = r.line[n:]
	return n, nil
}

// next reads a line.
func (r *checkedLines) next() {
	f, err := r.in.next(false)
	if err != nil {
		r.err = err
		return
	}
	data := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(f.data), []byte("\xef\xbb\xbf")))
	switch {
	case f.tooLong:
		r.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("Invalid Request: a message of %d bytes is longer than %d", f.size, defaultMaxFrame))
	case !json.Valid(data):
		quote := cutText(text.Clean(text.Valid(string(data[:min(len(data), 200)]))), 100)
		r.refuse(jsonrpc.CodeParseError, "Parse error: the line is no JSON: "+quote)
	case data[0] == '[':
		r.pass(data) // a batch of an older protocol
	default:
		if _, err := jsonrpc.DecodeMessage(data); err != nil {
			r.refuse(jsonrpc.CodeInvalidRequest, "Invalid Request: "+plainError(err))
			return
		}
		r.pass(data)
	}
}

func (r *checkedLines) pass(data []byte) { r.line = append(data, '\n') }

// refuse answers a line that is no message.
func (r *checkedLines) refuse(code int64, why string) {
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why}})
	if err == nil {
		_, err = r.out.Write(append(answer, '\n'))
	}
	r.err = err
}

func (r *checkedLines) Close() error { return nil }

// lineWriter writes whole lines, whoever they come from.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func newLineWriter(out io.Writer) *lineWriter { return &lineWriter{out: out} }

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

func (w *lineWriter) Close() error { return nil }
