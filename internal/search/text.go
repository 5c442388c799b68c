package search

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"jcode/internal/charset"
	"jcode/internal/edit"
)

// maxDecoded bounds the files of other encodings than UTF-8 that are decoded, in bytes.
const maxDecoded = 8 << 20

// sample is how much of a text tells whether it is UTF-8.
const sample = 64 << 10

var (
	utf8Mark    = []byte("\xef\xbb\xbf")
	utf16Little = []byte("\xff\xfe")
	utf16Big    = []byte("\xfe\xff")
)

// utf16Marked reports whether a file begins as UTF-16 does.
func utf16Marked(head []byte) bool {
	return bytes.HasPrefix(head, utf16Little) || bytes.HasPrefix(head, utf16Big)
}

// utf16 reports whether a text that has no mark is UTF-16.
func utf16(head []byte) bool {
	head = head[:min(len(head), binarySize)&^1]
	if bytes.IndexByte(head, 0) < 0 {
		return false
	}
	_, name := charset.Decode(head)
	return strings.HasPrefix(name, "UTF-16")
}

// otherText reports whether a text, of which head is the beginning, is not UTF-8.
func otherText(head []byte) bool {
	if bytes.IndexByte(head[:min(len(head), binarySize)], 0) >= 0 {
		return false
	}
	return !utf8.Valid(head[:len(head)-partialRune(string(head[max(0, len(head)-3):]))])
}

// Text returns the text of a file from its start as it is shown: without a byte order mark, and decoded if it is of
// another encoding.
func Text(r io.Reader) (io.Reader, error) {
	head := make([]byte, sample)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	head = head[:n]
	if utf16Marked(head) || utf16(head) || otherText(head) {
		content, _ := asText(head, r)
		return content, nil
	}
	return io.MultiReader(bytes.NewReader(bytes.TrimPrefix(head, utf8Mark)), r), nil
}

// asText returns what begins with head and continues with r as a text of UTF-8. changed is false for bytes that are
// left as they are: of a text that is too long, or of none.
func asText(head []byte, r io.Reader) (content io.Reader, changed bool) {
	data, err := io.ReadAll(io.MultiReader(bytes.NewReader(head), io.LimitReader(r, maxDecoded)))
	if err != nil || len(data) > maxDecoded {
		return io.MultiReader(bytes.NewReader(data), r), false
	}
	text, encoding, err := edit.Decode(data)
	if _, guessed := encoding.Guessed(); err != nil || !guessed && encoding != edit.UTF16LE && encoding != edit.UTF16BE {
		return bytes.NewReader(data), false
	}
	return strings.NewReader(text), true
}

// fill reads until the buffer is full or the file ends.
func (s *scanner) fill(r io.Reader, have int) (n int, err error) {
	for have+n < len(s.buf) && err == nil {
		var k int
		k, err = r.Read(s.buf[have+n:])
		n += k
	}
	return n, err
}
