//go:build linux || darwin

package paths_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"jcode/internal/paths"
)

// A pipe never keeps the reader waiting, a device never fills the memory, and no link leads out.
func TestReadInsideTakesRegularFilesOnly(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "private")
	if err := os.WriteFile(outside, []byte("private"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	for name, target := range map[string]string{"zero": "/dev/zero", "out": outside, "loop": "pipe"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "long"), make([]byte, 2000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "zero", "out", "loop", "long", "."} {
		if data, err := paths.ReadInside(dir, filepath.Join(dir, name), 1000); err == nil {
			t.Errorf("%s: %d bytes", name, len(data))
		}
	}
	for _, name := range []string{"pipe", "zero", "long", "."} {
		if data, err := paths.ReadFile(filepath.Join(dir, name), 1000); err == nil {
			t.Errorf("ReadFile %s: %d bytes", name, len(data))
		}
	}
}
