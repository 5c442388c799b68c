// Package programs makes programs for tests that jcode finds in PATH: those in temporary folders, it does not
// use.
package programs

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Write makes shell scripts in a new folder outside the folders for temporary files, and returns it. scripts maps
// names to what follows the first line.
func Write(t testing.TB, scripts map[string]string) (dir string) {
	t.Helper()
	at := ""
	if u, err := user.Current(); err == nil { // HOME may be a test's own
		at = filepath.Join(u.HomeDir, ".cache")
	}
	dir, err := os.MkdirTemp(at, "jcode-test-programs-")
	if err != nil {
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if dir, err = os.MkdirTemp(at, "jcode-test-programs-"); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	for name, script := range scripts {
		File(t, filepath.Join(dir, name), "#!/bin/sh\n"+script, 0o755)
	}
	return dir
}

// File writes a program. No process that another test starts meanwhile inherits it open for writing: it could not be run
// then ("text file busy").
func File(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(text), mode)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}

// First returns a PATH in which a folder comes first.
func First(dir string) string {
	return strings.Join([]string{dir, os.Getenv("PATH")}, string(os.PathListSeparator))
}
