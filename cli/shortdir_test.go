package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

// shortDir is t.TempDir with a path that is short, and of the same length wherever temporary files lie: what a
// screen shows of a path must not depend on that.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "jc")
	if err != nil { // there is no such folder here
		dir, err = os.MkdirTemp("", "jc")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the folder of the test: %v", err)
		}
	})
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
