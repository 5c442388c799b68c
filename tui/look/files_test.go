package look

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"jcode/internal/cells"
)

// Words that name files of the folder are links, whatever stands around them; nothing else is.
func TestNamesOfFilesAreLinks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "src", "a b.go")
	for _, name := range []string{filepath.Join(root, "src", "client.go"), file} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := NewFiles(root)
	for text, want := range map[string]string{
		"see src/client.go:12:3, please.": "src/client.go:12:3",
		"(src/client.go)":                 "src/client.go",
		"the file src/client.go.":         "src/client.go",
		"lines src/client.go:3-9":         "src/client.go:3-9",
		filepath.ToSlash(filepath.Join(root, "src", "client.go")) + " it is":      filepath.ToSlash(filepath.Join(root, "src", "client.go")),
		"src/gone.go:1 ../src/client.go /etc/passwd https://x/src/client.go . a/": "",
		"client.go": "",
	} {
		linked, whole := "", ""
		for _, s := range f.Linked(cells.Span{Text: text}) {
			whole += s.Text
			if s.Link == "" {
				continue
			}
			linked += s.Text
			if u, err := url.Parse(s.Link); err != nil || u.Scheme != "file" || u.Host != "" {
				t.Errorf("%q leads to %q", s.Text, s.Link)
			}
		}
		if linked != want || whole != text {
			t.Errorf("%q: the link is %q of %q", text, linked, whole)
		}
	}
	if f.Of("src/a b.go:2") == "" {
		t.Error("a name with a blank is no link")
	}
	if (*Files)(nil).Of("src/client.go") != "" || (*Files)(nil).Fresh() != nil {
		t.Error("nil knows files")
	}
}
