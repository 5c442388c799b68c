// Package cells owns text as a terminal sees it: graphemes and their width in cells,
// styled spans, wrapping and cutting by cells, and the escape sequences that show a span.
//
// It must not know what the text means, and expects it to be clean (internal/text). Styles are
// SGR parameters; the caller decides which colour means what.
package cells

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Style is a list of SGR parameters joined by semicolons ("1;38;5;12"); empty is plain.
type Style string

// With adds other's parameters; later ones win where they conflict.
func (s Style) With(other Style) Style {
	switch {
	case s == "":
		return other
	case other == "":
		return s
	}
	return s + ";" + other
}

// Span is a piece of text in one style. The text has no escape sequences.
type Span struct {
	Text  string
	Style Style
	// Link is the target of a hyperlink, or empty.
	Link string
}

// Next returns the first grapheme cluster of s and its width in cells.
func Next(s string) (cluster string, width int) {
	if len(s) == 0 {
		return "", 0
	}
	if s[0] < 0x80 && (len(s) == 1 || s[1] < 0x80) {
		if s[0] < 0x20 || s[0] == 0x7f {
			return s[:1], 0
		}
		return s[:1], 1
	}
	return ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
}

// Width counts the cells of text without escape sequences.
func Width(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			// A combining mark may belong to the character before it.
			return wideWidth(s)
		}
		if s[i] >= 0x20 && s[i] != 0x7f {
			n++
		}
	}
	return n
}

func wideWidth(s string) int {
	n := 0
	for len(s) > 0 {
		c, w := Next(s)
		n += w
		s = s[len(c):]
	}
	return n
}

// SpansWidth counts the cells of spans.
func SpansWidth(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += Width(s.Text)
	}
	return n
}

// Cut splits text at the last grapheme border at which head is at most width cells wide.
func Cut(s string, width int) (head, tail string) {
	n, i := 0, 0
	for i < len(s) {
		c, w := Next(s[i:])
		if n+w > width {
			break
		}
		n += w
		i += len(c)
	}
	return s[:i], s[i:]
}

// Fit shortens text without escape sequences to width cells and marks what it cut with an ellipsis.
func Fit(s string, width int) string {
	if len(s) <= width || Width(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	head, _ := Cut(s, width-1)
	return head + "…"
}

// FitStart shortens from the left, for paths.
func FitStart(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	for len(s) > 0 && Width(s) > width-1 {
		c, _ := Next(s)
		s = s[len(c):]
	}
	return "…" + s
}

// FitMiddle shortens text without escape sequences to width cells: it cuts in the middle,
// for text whose end says as much as its start.
func FitMiddle(s string, width int) string {
	if len(s) <= width || Width(s) <= width {
		return s
	}
	if width <= 2 {
		return Fit(s, width)
	}
	head, _ := Cut(s, width/2)
	return head + FitStart(s[len(head):], width-Width(head))
}

// Render returns spans as text with escape sequences; it ends with a reset where needed.
func Render(spans []Span) string {
	if len(spans) == 1 && spans[0].Style == "" && spans[0].Link == "" {
		return spans[0].Text
	}
	n := 0
	for i := range spans {
		n += len(spans[i].Text) + len(spans[i].Style) + 7
	}
	var b strings.Builder
	b.Grow(n)
	style, link := Style(""), ""
	for _, s := range spans {
		if s.Text == "" {
			continue
		}
		if s.Style != style {
			if style != "" {
				b.WriteString("\x1b[m")
			}
			if s.Style != "" {
				b.WriteString("\x1b[")
				b.WriteString(string(s.Style))
				b.WriteByte('m')
			}
			style = s.Style
		}
		if s.Link != link {
			writeLink(&b, s.Link)
			link = s.Link
		}
		b.WriteString(s.Text)
	}
	if link != "" {
		writeLink(&b, "")
	}
	if style != "" {
		b.WriteString("\x1b[m")
	}
	return b.String()
}

// writeLink begins a hyperlink, or ends one. A target that would end the sequence is none.
func writeLink(b *strings.Builder, target string) {
	if strings.ContainsFunc(target, unicode.IsControl) {
		target = ""
	}
	b.WriteString("\x1b]8;;")
	b.WriteString(target)
	b.WriteString("\x1b\\")
}

// Paint returns text in a style.
func Paint(style Style, text string) string {
	if style == "" || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[m"
}

// Blank is n spaces.
func Blank(n int) string {
	const spaces = "                                                                                                                                "
	if n <= 0 {
		return ""
	}
	if n <= len(spaces) {
		return spaces[:n]
	}
	return strings.Repeat(" ", n)
}
