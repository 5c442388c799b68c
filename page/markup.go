package page

import (
	"fmt"
	"html"
	"strings"

	"jcode/internal/text"
)

// markup is HTML that is ready: everything else is escaped.
type markup string

// sheet is HTML that is being written.
type sheet struct{ strings.Builder }

// put writes a format whose arguments are escaped, unless they are markup. Attributes stand between double quotes.
func (s *sheet) put(format string, args ...any) {
	safe := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case markup:
			safe[i] = string(a)
		case int, int64, uint64:
			safe[i] = a
		default:
			safe[i] = escape(fmt.Sprint(a))
		}
	}
	fmt.Fprintf(&s.Builder, format, safe...)
}

// done returns what was written.
func (s *sheet) done() markup { return markup(s.String()) }

// escape returns text as HTML: what would drive a terminal or hide something is gone.
func escape(s string) string { return html.EscapeString(text.Clean(s)) }
