package permission

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"jcode/internal/text"
)

// longBlank is how many spaces in a row are shown unmarked: it takes far more to push the rest of a command
// off the screen.
const longBlank = 16

// blanks are the characters that look like a space, including those of typography and of CJK text.
const blanks = " \t\u00a0\u3000"

// show makes everything in external text visible, including long runs of spaces.
func show(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		n, end := 0, i
		for end < len(s) {
			r, size := utf8.DecodeRuneInString(s[end:])
			if !strings.ContainsRune(blanks, r) {
				break
			}
			n, end = n+1, end+size
		}
		if n >= longBlank && !lineStart(s, i) {
			fmt.Fprintf(&b, " ⟨%d spaces⟩ ", n)
		} else {
			b.WriteString(s[i:end])
		}
		i = end
		if i < len(s) {
			_, size := utf8.DecodeRuneInString(s[i:])
			b.WriteString(s[i : i+size])
			i += size
		}
	}
	return text.Visible(b.String()) // last: it would hide from the count that some blanks are blanks
}

// lineStart reports whether a position begins a line: indentation hides nothing.
func lineStart(s string, i int) bool { return i > 0 && s[i-1] == '\n' }

// hidden returns lines that warn of what a command line contains and a reader may miss.
func hidden(cmd string) []string {
	var out []string
	if n := strings.Count(strings.TrimRight(cmd, "\n"), "\n") + 1; n > 1 {
		out = append(out, fmt.Sprintf("%d lines", n))
	}
	if text.Visible(cmd) != cmd {
		out = append(out, "holds invisible or control characters, shown marked")
	}
	if strings.ContainsAny(cmd, "\u00a0\u3000") {
		out = append(out, "contains spaces that a shell reads as letters (U+00A0 or U+3000)")
	}
	if show(cmd) != text.Visible(cmd) {
		out = append(out, "contains a long run of spaces, which is marked")
	}
	return out
}
