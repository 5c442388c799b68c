package text

import (
	"github.com/charmbracelet/x/ansi"
)

// Width returns the terminal cells that a line of s takes, measured as the terminal UI measures it: by
// grapheme cluster, with escape sequences taking none.
func Width(s string) int {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// Truncate returns s if it takes at most cells cells, otherwise a prefix of it followed by tail, at most that
// wide together. Escape sequences are kept.
func Truncate(s string, cells int, tail string) string {
	if len(s) <= cells || Width(s) <= cells {
		return s
	}
	if cells <= 0 {
		return ""
	}
	if Width(tail) > cells {
		tail = ""
	}
	return ansi.Truncate(s, cells, tail)
}
