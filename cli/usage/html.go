package usage

import (
	_ "embed"
	"fmt"
	"html"
	"strings"
)

//go:embed page.html
var page string

// HTML returns one self-contained page with all groupings: the same figures, drawn. It is written by hand:
// html/template makes the linker keep more methods and costs half a megabyte.
func HTML(reports []Report) string {
	var tables strings.Builder
	days := 0
	for _, r := range reports {
		days = r.Days
		r.table(&tables)
	}
	return strings.NewReplacer("{{tables}}", tables.String(), "{{days}}", fmt.Sprint(days)).Replace(page)
}

// table writes one grouping with its bars.
func (r Report) table(b *strings.Builder) {
	most := r.most()
	fmt.Fprintf(b, "<h2>by %s</h2>\n<table>\n<thead><tr><th>%s<th>input<th>cache read<th>cache write<th>output<th>requests<th>cost<th>cached<th></tr></thead>\n<tbody>\n", r.By, r.By)
	for _, l := range r.Lines {
		share := 0.0
		if most > 0 {
			share = 100 * r.measure(l) / most
		}
		fmt.Fprintf(b, "<tr>%s<td class=\"bar\"><div style=\"width: %.1f%%\"></div></tr>\n", l.cells(), share)
	}
	fmt.Fprintf(b, "</tbody>\n<tfoot><tr>%s<td></tr></tfoot>\n</table>\n", r.Total.cells())
}

// cells returns a line's figures as cells of a table.
func (l Line) cells() string {
	return fmt.Sprintf("<td>%s<td>%s%s<td>%s<td>%s<td>%s%s<td>%d<td>%s<td>%.0f %%", html.EscapeString(l.Name), l.mark(), Tokens(l.Input),
		Tokens(l.CacheRead), Tokens(l.CacheWrite), l.mark(), Tokens(l.Output), l.Requests, l.money(), 100*l.CacheShare)
}
