package anthropic

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"jcode/agent/model/endpoint"
)

// events splits a body of type text/event-stream into the data of its events.
type events struct {
	r    *bufio.Reader
	line []byte
	data []byte
}

func newEvents(body io.Reader) *events {
	return &events{r: bufio.NewReaderSize(body, 32<<10)}
}

// next returns the data of the next event, which is valid until the next call. An event that is cut off by
// the end of the stream is dropped. At the end, the error is io.EOF.
func (e *events) next() ([]byte, error) {
	e.data = e.data[:0]
	seen := false
	for {
		line, err := e.readLine()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if seen {
				return e.data, nil
			}
			continue
		}
		rest, ok := bytes.CutPrefix(line, []byte("data"))
		if !ok || len(rest) > 0 && rest[0] != ':' {
			continue // a comment, or the name of an event, which its data repeats
		}
		if seen {
			e.data = append(e.data, '\n')
		}
		seen = true
		rest = bytes.TrimPrefix(rest, []byte(":"))
		e.data = append(e.data, bytes.TrimPrefix(rest, []byte(" "))...)
		if len(e.data) > endpoint.MaxAnswer {
			return nil, endpoint.ErrTooLarge
		}
	}
}

// readLine returns the next line without its line end.
func (e *events) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		part, err := e.r.ReadSlice('\n')
		if err == nil && len(e.line) == 0 {
			return trimEnd(part), nil // the usual case: nothing is copied
		}
		e.line = append(e.line, part...)
		switch {
		case err == nil:
			return trimEnd(e.line), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(e.line) > endpoint.MaxAnswer:
			return nil, endpoint.ErrTooLarge
		}
	}
}

func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
}
