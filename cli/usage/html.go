package usage

import (
	_ "embed"
	"html/template"
	"strings"
)

//go:embed page.html
var page string

// HTML is one self-contained page with all groupings: the same figures, drawn.
func HTML(reports []Report) (string, error) {
	funcs := template.FuncMap{
		"tokens": Tokens, "money": Money,
		"percent": func(share float64) int { return int(100*share + 0.5) },
		"width": func(r Report, l Line) float64 {
			most := 0.0
			for _, other := range r.Lines {
				most = max(most, r.measure(other))
			}
			if most == 0 {
				return 0
			}
			return 100 * r.measure(l) / most
		},
	}
	t, err := template.New("usage").Funcs(funcs).Parse(page)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, reports)
	return b.String(), err
}
