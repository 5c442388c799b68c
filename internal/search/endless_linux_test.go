package search

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A repository whose git folder has pipes and devices for files is searched as one without them.
func TestGitFilesThatNeverEndHoldUpNoSearch(t *testing.T) {
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	device := func(path string) error { return os.Symlink("/dev/zero", path) }
	for name, put := range map[string]func(path string) error{"pipe": pipe, "device": device} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			sub := filepath.Join(top, "sub")
			for _, dir := range []string{sub, filepath.Join(top, ".git", "info")} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range []string{".git/info/exclude", ".git/index", ".gitignore"} {
				if err := put(filepath.Join(top, filepath.FromSlash(file))); err != nil {
					t.Skip(err)
				}
			}
			if err := os.WriteFile(filepath.Join(sub, "a"), []byte("x\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			done := make(chan bool)
			go func() {
				Outer(sub)
				done <- TrackedIn(sub).has("a", false)
			}()
			select {
			case tracked := <-done:
				if tracked {
					t.Error("a is tracked")
				}
			case <-time.After(time.Minute):
				t.Fatal("it never ends")
			}
		})
	}
}
