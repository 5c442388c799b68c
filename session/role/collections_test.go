package role_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/collections"
	"jcode/session/role"
)

// TestPublicAgentFilesAreRead reads each agent of the collections as a role.
func TestPublicAgentFilesAreRead(t *testing.T) {
	t.Parallel()
	files := collections.Files(t, "agents", ".md", 150)
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, []byte("---")) {
			continue // a page about a folder
		}
		r := role.ParseAgent(strings.TrimSuffix(filepath.Base(path), ".md"), data)
		for _, p := range r.Problems {
			if p.Fatal {
				t.Errorf("%s: %s", path, p)
			}
		}
		if r.Body == "" || r.Description == "" {
			t.Errorf("%s: %+v", path, r)
		}
	}
	t.Logf("%d agents", len(files))
}
