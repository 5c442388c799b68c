package cells

import (
	"strings"
	"unicode/utf8"
)

// Clean makes text from outside harmless for a terminal: escape sequences vanish, other
// control characters and bytes that are no UTF-8 show as U+FFFD or vanish, carriage returns
// at line ends vanish, and characters that reorder what follows show as a mark. Newlines and
// tabs stay. Clean text comes back as it is.
func Clean(s string) string {
	i := firstDirty(s)
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:i])
	for i < len(s) {
		c := s[i]
		switch {
		case c == 0x1b:
			i += escapeLen(s[i:])
			continue
		case c == '\n' || c == '\t' || c >= 0x20 && c < 0x7f:
			b.WriteByte(c)
			i++
			continue
		case c < 0x20 || c == 0x7f:
			if c == '\r' && i+1 < len(s) && s[i+1] != '\n' {
				b.WriteByte('\n') // a line that overwrote the one before
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			b.WriteRune(utf8.RuneError)
		case r < 0xa0: // C1 controls
		case reorders(r):
			b.WriteRune('�')
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// firstDirty gives the index of the first byte that Clean may change, or -1.
func firstDirty(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c < 0x7f || c == '\n' || c == '\t' {
			continue
		}
		if c < 0x80 {
			return i
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n <= 1 || r < 0xa0 || reorders(r) {
			return i
		}
		i += n - 1
	}
	return -1
}

// reorders reports whether a character changes the direction of the text around it.
func reorders(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029
}

// escapeLen gives the length of the escape sequence at the start of s.
func escapeLen(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] >= 0x80 {
				return i
			}
		}
		return len(s)
	case ']', 'P', 'X', '^', '_':
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
			if s[i] == '\n' {
				return i
			}
		}
		return len(s)
	}
	if s[1] >= 0x20 && s[1] < 0x30 && len(s) > 2 {
		return 3
	}
	if s[1] < 0x80 {
		return 2
	}
	return 1
}

// Visible is Clean for text that a person must be able to judge, such as a command to
// approve: what Clean drops or a line of text hides is spelled out (␛, ⟨U+202E⟩).
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune(0x2400 + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case r >= 0x80 && r < 0xa0, reorders(r), r >= 0x200b && r <= 0x200f, r == 0xfeff, r == 0x00ad, r == 0x2060:
			b.WriteString("⟨U+")
			b.WriteString(hex4(r))
			b.WriteString("⟩")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hex4(r rune) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15]})
}

// ExpandTabs replaces tabs by blanks up to the next multiple of size columns.
func ExpandTabs(s string, size int) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	col := 0
	for len(s) > 0 {
		c, w := Next(s)
		switch c {
		case "\t":
			n := size - col%size
			b.WriteString(Blank(n))
			col += n
		case "\n":
			b.WriteString(c)
			col = 0
		default:
			b.WriteString(c)
			col += w
		}
		s = s[len(c):]
	}
	return b.String()
}

// maxHeld bounds how much of an unfinished escape sequence is waited for.
const maxHeld = 4096

// CompleteLen gives how much of s, the text that has arrived so far, can be cleaned without
// waiting for more: the rest may be half a character, half an escape sequence or half a line end.
func CompleteLen(s string) int {
	n := len(s)
	if n == 0 {
		return 0
	}
	if i := strings.LastIndexByte(s, 0x1b); i >= 0 && n-i < maxHeld && unfinished(s[i:]) {
		return i
	}
	if s[n-1] == '\r' {
		return n - 1
	}
	for i := n - 1; i >= 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if s[i] >= utf8.RuneSelf && !utf8.FullRuneInString(s[i:]) {
				return i
			}
			break
		}
	}
	return n
}

// unfinished reports whether the escape sequence that s begins with needs more bytes.
func unfinished(s string) bool {
	if len(s) < 2 {
		return true
	}
	if escapeLen(s) < len(s) {
		return false
	}
	last := s[len(s)-1]
	switch s[1] {
	case '[':
		return len(s) == 2 || last < 0x40 || last > 0x7e
	case ']', 'P', 'X', '^', '_':
		return last != 0x07
	}
	return false
}
