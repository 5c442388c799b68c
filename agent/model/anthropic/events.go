package anthropic

import (
	"bytes"
	"io"

	"jcode/agent/model/endpoint"
)

// events splits a body of type text/event-stream into the data of its events.
type events struct {
	lines endpoint.Lines
	data  []byte
}

func newEvents(body io.Reader) *events { return &events{lines: endpoint.NewLines(body)} }

// next returns the data of the next event, which is valid until the next call. An event that is cut off by
// the end of the stream is dropped. At the end, the error is io.EOF.
func (e *events) next() ([]byte, error) {
	e.data = e.data[:0]
	seen := false
	for {
		line, err := e.lines.Next()
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
