package paths

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"jcode/internal/text"
)

// Escape writes a path on one line. In a name with control characters, invalid bytes or invisible
// characters, these are escaped as in a Go string, with \n for a line feed and two backslashes
// for one. Every other path is returned unchanged.
func Escape(path string) string {
	if !strings.ContainsAny(path, "\n\t") && text.Visible(path) == path {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRuneInString(path[i:])
		switch s := path[i : i+size]; {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, path[i])
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\n' || r == '\t' || text.Visible(s) != s:
			b.WriteString(strings.Trim(strconv.QuoteToASCII(s), `"`))
		default:
			b.WriteString(s)
		}
		i += size
	}
	return b.String()
}

// Unescape is the opposite of Escape. ok is false for a path that Escape can't have written.
func Unescape(path string) (name string, ok bool) {
	if !strings.Contains(path, `\`) {
		return "", false
	}
	var b strings.Builder
	for path != "" {
		r, multibyte, rest, err := strconv.UnquoteChar(path, 0)
		if err != nil {
			return "", false
		}
		if r < utf8.RuneSelf || !multibyte {
			b.WriteByte(byte(r)) //nolint:gosec // a byte that was written as \xNN
		} else {
			b.WriteRune(r)
		}
		path = rest
	}
	return b.String(), true
}
