package text_test

import (
	"testing"

	"jcode/internal/text"
)

func TestMarkdownOnOneLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"## Result\n\nAll **three tests** pass.":                                  "Result All three tests pass.",
		"- [x] `a**b` and __c__\n* see [the page](https://example.com/x)\n> said": "a**b and c see the page said",
		"```go\nfunc f() {}\n```\n---\n2 * 3 * 4 = snake__case__name":             "func f() {} 2 * 3 * 4 = snake__case__name",
		"a list[0](x y) of `x": "a list[0](x y) of x",
		"":                     "",
	} {
		if got := text.Prose(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
