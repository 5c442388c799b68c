package transcript

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"jcode/tui/look"
)

// Tail returns the last lines of the transcript as plain text, at most n; none before the first prompt.
func (t *View) Tail(l *look.Look, n int) []string {
	if !slices.ContainsFunc(t.Items, func(it Item) bool { _, ok := it.(*Prompt); return ok }) {
		return nil
	}
	var out []string
	for i := len(t.Items) - 1; i >= 0 && len(out) < n; i-- {
		it := t.Items[i]
		for line := it.Height(l) - 1; line >= 0 && len(out) < n; line-- {
			out = append(out, strings.TrimRight(ansi.Strip(it.Line(l, line)), " "))
		}
		if t.gap(i) && len(out) < n {
			out = append(out, "")
		}
	}
	slices.Reverse(out)
	return out
}
