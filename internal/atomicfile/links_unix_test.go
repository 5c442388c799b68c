//go:build unix

package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"jcode/internal/atomicfile"
)

func TestAllNamesOfAFileKeepItsContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	if err := os.WriteFile(one, []byte("a long first content"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(one, two); err != nil {
		t.Skip("no hard links here:", err)
	}
	for _, content := range []string{"short", "", "longer than it was ever before, by some way"} {
		if err := atomicfile.Write(one, []byte(content), atomicfile.Options{Sync: true}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(two); err != nil || string(got) != content {
			t.Errorf("the other name has %q, want %q: %v", got, content, err)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("left behind: %v, %v", list, err)
	}
	if info, err := os.Stat(one); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
