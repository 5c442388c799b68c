//go:build linux || darwin

package cli

import (
	"os"
	"path/filepath"
	"testing"

	"jcode/cli/config"
)

func TestManagedSettingsInTheDocsAreRight(t *testing.T) {
	for _, b := range blocks(t) {
		if b.info != "jsonc managed.json" {
			continue
		}
		dir := t.TempDir()
		write(t, filepath.Join(dir, "managed.json"), b.text)
		for path, mode := range map[string]os.FileMode{dir: 0o755, filepath.Join(dir, "managed.json"): 0o644} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := config.ReadManaged(config.ManagedPlace{Dir: dir, Owner: os.Getuid()}); err != nil {
			t.Errorf("%s:%d: %v", b.page, b.line, err)
		}
	}
}
