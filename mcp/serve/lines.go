package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"jcode/internal/text"
)

// checkedLines passes on the lines of a client that contain a message. Other lines are answered
// with an error and do not end the session. It ends the calls when the client closes its side.
type checkedLines struct {
	in   *bufio.Reader
	out  *lineWriter
	end  func()
	line []byte
	err  error
}

func newCheckedLines(in io.Reader, out *lineWriter, end func()) *checkedLines {
	return &checkedLines{in: bufio.NewReaderSize(in, 64<<10), out: out, end: end}
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
		r.pass(data) // a batch of an older protocol
	default:
		if _, fault := jsonrpc.DecodeMessage(data); fault != nil {
			r.refuse(jsonrpc.CodeInvalidRequest, "Invalid Request: "+text.Clean(text.Valid(fault.Error())))
		} else {
			r.pass(data)
		}
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

func (r *checkedLines) pass(data []byte) { r.line = append(data, '\n') }

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

// lineWriter writes whole lines; it is safe for concurrent use.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

func (w *lineWriter) Close() error { return nil }
