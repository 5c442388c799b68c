package endpoint

import (
	"bufio"
	"bytes"
	"io"
)

// SkipMark strips a byte order mark at the beginning of a stream.
func SkipMark(body io.ReadCloser) io.ReadCloser { return &unmarked{body: body} }

type unmarked struct {
	body io.ReadCloser
	r    *bufio.Reader
}

// Read skips the mark on its first call.
func (u *unmarked) Read(p []byte) (int, error) {
	if u.r == nil {
		u.r = bufio.NewReaderSize(u.body, 32<<10)
		mark := []byte("\xef\xbb\xbf")
		if begin, err := u.r.Peek(len(mark)); err == nil && bytes.Equal(begin, mark) {
			_, _ = u.r.Discard(len(mark)) // it was just seen
		}
	}
	return u.r.Read(p)
}

// Close closes the stream.
func (u *unmarked) Close() error { return u.body.Close() }
