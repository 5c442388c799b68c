package cli

import (
	"os"
	"path/filepath"
	"testing"

	"jcode/cli/config"
	"jcode/tools"
)

// A server's tool may have any name; the file that keeps its whole result must not.
func TestWholeResultsHaveFileNamesForEverySystem(t *testing.T) {
	data := t.TempDir()
	a := &app{paths: config.Paths{Data: data}}
	for name, want := range map[string]string{
		"grep": "grep-*.txt", "mcp:files:repo/search": "mcp-files-repo-search-*.txt", "../../x": "------x-*.txt", "漢": "----*.txt", "": "-*.txt",
	} {
		path, err := a.spill(tools.Call{Name: name}, "the whole")
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if ok, err := filepath.Match(want, filepath.Base(path)); !ok || err != nil {
			t.Errorf("%q is kept as %s", name, filepath.Base(path))
		}
		if got, err := os.ReadFile(path); string(got) != "the whole" || filepath.Dir(path) != filepath.Join(data, "logs", "results") {
			t.Errorf("%q: %s holds %q, %v", name, path, got, err)
		}
	}
}
