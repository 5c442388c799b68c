//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// TestReferencesAreWrittenOutWhereAProviderWantsIt: the setting applies to the schemas of MCP servers; without
// it their references remain unchanged.
func TestReferencesAreWrittenOutWhereAProviderWantsIt(t *testing.T) {
	t.Parallel()
	for quirks, want := range map[string]bool{`{}`: true, `{"simple_schemas": true}`: false} {
		s := withServers(newChat(t, modeltest.Text("done")), map[string]string{"odd": "schemas"})
		config := `{"providers": {"work": {"base_url": "` + s.srv.URL() + `", "local": true, "quirks": ` + quirks + `}}}`
		if err := os.WriteFile(filepath.Join(s.home, "config.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := jcode(t.Context(), t, s.dir, s.home, "", "-p", "-m", "work/m", "go")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		r := s.request(0)
		if !offers(r, "odd") || strings.Contains(string(r.Raw), `"$ref"`) != want {
			t.Errorf("%s: references: %v; %s", quirks, !want, r.Raw)
		}
	}
}
