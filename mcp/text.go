package mcp

import (
	"strings"

	"jcode/internal/text"
)

// cutText cuts at a grapheme border and marks the cut.
func cutText(s string, limit int) string {
	out, _ := text.CutMark(s, limit, "…")
	return out
}

// firstLine gives the first line that is not blank, without control sequences, cut to
// limit bytes.
func firstLine(s string, limit int) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(text.Clean(line)); line != "" {
			return cutText(line, limit)
		}
	}
	return ""
}

// lastLines joins the last n lines of a text.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	for i, l := range lines {
		lines[i] = cutText(strings.TrimSpace(l), 300)
	}
	return strings.Join(lines, " | ")
}
