package mcp

import (
	"strings"
	"unicode/utf8"
)

// validText replaces what is no UTF-8.
func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// headTail keeps two thirds of the limit from the head and a third from the tail, cut at
// rune borders, with a mark between them.
func headTail(s string, limit int, mark string) string {
	head := limit * 2 / 3
	tail := len(s) - (limit - head)
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + "\n" + mark + "\n" + s[tail:]
}

// plainText removes control sequences and control characters other than newline and tab.
func plainText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0x1b:
			i += sequenceLength(s[i:])
			continue
		case r == '\n' || r == '\t' || r >= 0x20 && r != 0x7f && (r < 0x80 || r > 0x9f):
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// sequenceLength measures an escape sequence at the start of s.
func sequenceLength(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	}
	return 2
}

// firstLine gives the first line that is not blank, cut to limit bytes.
func firstLine(s string, limit int) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(plainText(line)); line != "" {
			return cutText(line, limit)
		}
	}
	return ""
}
