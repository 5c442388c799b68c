package mentions

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Names that begin with what was typed come first, then those that contain it, then those of folders; the shorter one
// first. What must not be read is not offered.
func TestFilesAreFoundByAPartOfTheirNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"main.go", "domain-of-the-app.txt", "main/x.go", "maintenance.md", "main.key", "else.go"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := Finder{Dir: dir, Denied: func(path string) bool { return strings.HasSuffix(path, ".key") }}
	got, err := f.Find(t.Context(), " Main", 3)
	if want := []string{"main.go", "maintenance.md", "domain-of-the-app.txt"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("found %q, %v; want %q", got, err, want)
	}
	if got, err := f.Find(t.Context(), "main", 10); err != nil || !slices.Contains(got, "main/x.go") || slices.Contains(got, "main.key") {
		t.Errorf("found %q, %v", got, err)
	}
}
