package endpoint

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net/http"
)

// Lines splits an answer into lines of at most MaxAnswer bytes, the last of which may lack its line end.
type Lines struct{ in *bufio.Scanner }

// NewLines returns the lines of an answer.
func NewLines(body io.Reader) Lines {
	in := bufio.NewScanner(body)
	in.Buffer(make([]byte, 0, 32<<10), MaxAnswer)
	return Lines{in}
}

// Next returns the next line without its line end, valid until the next call. At the end, the error is io.EOF.
func (l Lines) Next() ([]byte, error) {
	if l.in.Scan() {
		return l.in.Bytes(), nil
	}
	switch err := l.in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, ErrTooLarge
	case err != nil:
		return nil, err
	}
	return nil, io.EOF
}

// hasType reports whether a response says that it is of a media type.
func hasType(resp *http.Response, want string) bool {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && kind == want
}

// IsJSON reports whether an answer is one JSON object in place of a stream.
func IsJSON(resp *http.Response) bool { return hasType(resp, "application/json") }
