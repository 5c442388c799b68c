package cli_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
)

// A file of variables that a killed jcode left is removed by doctor and by the next hook that gets one; others stay.
func TestFilesOfVariablesThatAKilledProcessLeftAreRemoved(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	folder := filepath.Join(home, "hooks")
	leave := func() {
		t.Helper()
		for _, name := range []string{"hook-old", "hook-young", "mine"} {
			path := filepath.Join(folder, name)
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(path, "env.sh"), []byte("export TOKEN=1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if old := time.Now().Add(-48 * time.Hour); name != "hook-young" {
				if err := os.Chtimes(path, old, old); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	check := func(after string) {
		t.Helper()
		for name, stays := range map[string]bool{"hook-old": false, "hook-young": true, "mine": true} {
			if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != stays {
				t.Errorf("after %s: %s: %v", after, name, err)
			}
		}
	}
	srv := modeltest.New(t, modeltest.Text("Done."))
	leave()
	if out, err := jcode(t.Context(), t, dir, home, srv.URL(), "doctor", "--offline").CombinedOutput(); err != nil {
		t.Logf("%v: %s", err, out) // what else it finds does not matter here
	}
	check("doctor")
	leave()
	settings := `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "true"}]}]}}`
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := jcode(t.Context(), t, dir, home, srv.URL(), "-p", "go").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	check("a hook")
}
