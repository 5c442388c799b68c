package instructions

import (
	"strings"
	"testing"
)

// Imports are words of the text outside code, with the right line numbers.
func FuzzImports(f *testing.F) {
	f.Add("see @a.md and `@b.md`\n```\n@c.md\n```\n(@d/e), x@f.g")
	f.Add("~~~\n``` @x.md\n~~~\n@y.md.")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		for _, imp := range imports(text) {
			if imp.path == "" || imp.line < 1 || imp.line > len(lines) || !strings.Contains(lines[imp.line-1], "@"+imp.path) {
				t.Errorf("%q: %+v", text, imp)
			}
		}
		for _, imp := range imports("````\n" + strings.ReplaceAll(text, "`", "") + "\n````") {
			t.Errorf("from inside a fence: %+v", imp)
		}
	})
}
