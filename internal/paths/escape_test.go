package paths_test

import (
	"strings"
	"testing"

	"jcode/internal/paths"
	"jcode/internal/text"
)

func TestEscapedNamesAreOneLineAndComeBack(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"plain/a b.txt":    "plain/a b.txt",
		`back\slash`:       `back\slash`,
		"äö漢👍":             "äö漢👍",
		"a\nb":             `a\nb`,
		"a\nb\\n":          `a\nb\\n`,
		"t\tx\r":           `t\tx\r`,
		"x\xffy\x1b[m":     `x\xffy\x1b[m`,
		"r\u202ex\u200b\n": `r\u202ex\u200b\n`,
		"é\n\"'":           `é\n"'`,
	} {
		got := paths.Escape(name)
		if got != want || strings.ContainsAny(got, "\n\t") || text.Visible(got) != got {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
		if got == name {
			continue
		}
		if back, ok := paths.Unescape(got); !ok || back != name {
			t.Errorf("%q comes back as %q (%v)", name, back, ok)
		}
	}
}
