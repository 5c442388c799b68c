package search

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"jcode/internal/edit"
)

// maxDecoded bounds the UTF-16 files that are searched, in bytes.
const maxDecoded = 8 << 20

var (
	utf8Mark    = []byte("\xef\xbb\xbf")
	utf16Little = []byte("\xff\xfe")
	utf16Big    = []byte("\xfe\xff")
)

// utf16Marked reports whether a file begins as UTF-16 does.
func utf16Marked(head []byte) bool {
	return bytes.HasPrefix(head, utf16Little) || bytes.HasPrefix(head, utf16Big)
}

// Text returns the text of a file from its start: without a byte order mark, and decoded if the mark says
// UTF-16.
func Text(r io.Reader) (io.Reader, error) {
	head := make([]byte, len(utf8Mark))
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	head = head[:n]
	if utf16Marked(head) {
		return decoded(head, r)
	}
	return io.MultiReader(bytes.NewReader(bytes.TrimPrefix(head, utf8Mark)), r), nil
}

// decoded reads UTF-16 that begins with head.
func decoded(head []byte, r io.Reader) (io.Reader, error) {
	data, err := io.ReadAll(io.MultiReader(bytes.NewReader(head), io.LimitReader(r, maxDecoded)))
	if err != nil {
		return nil, err
	}
	if len(data) > maxDecoded {
		return nil, fmt.Errorf("UTF-16 of more than %d MiB is not decoded", maxDecoded>>20)
	}
	content, _, err := edit.Decode(data)
	return strings.NewReader(content), err
}
