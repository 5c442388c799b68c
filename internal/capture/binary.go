package capture

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"jcode/internal/text"
)

// judgedBytes is the beginning of output by which its kind is judged.
const judgedBytes = 8 << 10

// isBinary reports whether output is not text: it contains control characters that no terminal
// program writes, or NULs other than separators of texts. Text in an old 8-bit encoding is text.
func isBinary(head []byte) bool {
	head = head[:min(len(head), judgedBytes)]
	odd, nuls := 0, 0
	for i, b := range head {
		switch {
		case b == 0:
			nuls++
			if i > 0 && head[i-1] == 0 {
				odd++
			}
		case b < 0x20 && !strings.ContainsRune("\a\b\t\n\v\f\r\x1b\x0e\x0f", rune(b)):
			odd++
		}
	}
	if nuls > 0 && (nuls == len(head) || !utf8.Valid(cutRune(head))) {
		return true
	}
	return odd*50 > len(head) || bytes.HasPrefix(head, []byte("\x89PNG")) || bytes.HasPrefix(head, []byte("\xff\xd8\xff"))
}

// cutRune removes an incomplete rune at the end.
func cutRune(b []byte) []byte {
	for i := 1; i <= min(len(b), utf8.UTFMax); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// showNULs makes NULs that separate texts (find -print0) visible: each run of them ends a line.
func (s *stream) showNULs(chunk []byte) []byte {
	if bytes.IndexByte(chunk, 0) < 0 {
		s.nul = s.nul && len(chunk) == 0
		return chunk
	}
	out := make([]byte, 0, len(chunk)+len(chunk)/4)
	for _, b := range chunk {
		switch {
		case b != 0:
			out = append(out, b)
		case !s.nul:
			out = append(out, "␀\n"...)
		}
		s.nul = b == 0
	}
	return out
}

// hexBytes is the number of bytes of binary data that are shown.
const hexBytes = 32

// Kind describes standard output that is not text, and returns "" for text.
func (s Snapshot) Kind() string {
	raw := s.Stdout
	if raw.total == 0 || !isBinary(raw.head) {
		return ""
	}
	count := text.Count(int(raw.total), "byte")
	if raw.Missing() == 0 && len(bytes.Trim(raw.head, "\x00")) == 0 && len(bytes.Trim(raw.last(), "\x00")) == 0 {
		return count + ", all NUL"
	}
	kind := http.DetectContentType(raw.head)
	if kind == "application/octet-stream" || strings.HasPrefix(kind, "text/") {
		kind = "binary data"
	}
	first := raw.head[:min(len(raw.head), hexBytes)]
	if int64(len(first)) == raw.total {
		return fmt.Sprintf("%s of %s: % x", count, kind, first)
	}
	return fmt.Sprintf("%s of %s, which begin with % x", count, kind, first)
}
