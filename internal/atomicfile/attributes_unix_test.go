//go:build linux || darwin

package atomicfile_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"jcode/internal/atomicfile"
)

func TestWriteKeepsExtendedAttributes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "old", 0o644)
	if err := unix.Setxattr(path, "user.jcode", []byte("kept"), 0); err != nil {
		t.Skipf("the file system has no extended attributes: %v", err)
	}
	if err := atomicfile.Write(path, []byte("new"), atomicfile.Options{}); err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 16)
	if n, err := unix.Getxattr(path, "user.jcode", value); err != nil || string(value[:n]) != "kept" {
		t.Errorf("attribute %q, %v", value[:max(n, 0)], err)
	}
}
