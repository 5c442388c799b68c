package transcript

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"jcode/tui/look"
)

func drawn(it Item, l *look.Look) string {
	var b strings.Builder
	for n := range it.Height(l) {
		b.WriteString(it.Line(l, n) + "\n")
	}
	return b.String()
}

func stripped(s string) string { return ansi.Strip(s) }
