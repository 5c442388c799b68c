package text

import "strings"

// Ellipsis returns s cut to at most n bytes, as CutMark does, with "…" as the mark.
func Ellipsis(s string, n int) string {
	out, _ := CutMark(s, n, "…")
	return out
}

// FirstLine returns the first non-blank line of s, cleaned and cut to at most n bytes.
func FirstLine(s string, n int) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(Clean(line)); line != "" {
			return Ellipsis(line, n)
		}
	}
	return ""
}

// Headline returns the first line of s, unchanged except for surrounding white space.
func Headline(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// LastLines joins the last n lines of s with " | ", each cut to at most 300 bytes.
func LastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	for i, l := range lines {
		lines[i] = Ellipsis(strings.TrimSpace(l), 300)
	}
	return strings.Join(lines, " | ")
}

// Brief is a command line or an address as it is named in a sentence: its first line, at most 200 bytes, with what hides
// shown.
func Brief(s string) string {
	s = Visible(s)
	if first, _, more := strings.Cut(s, "\n"); more {
		s = first + " …"
	}
	out, _ := CutMark(s, 200, "…")
	return out
}
