package cells

import "strings"

// ExpandTabs replaces tabs by spaces up to the next multiple of size columns.
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
