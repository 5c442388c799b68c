package paths_test

import (
	"os"
	"path/filepath"
	"testing"

	"jcode/internal/paths"
)

// tree creates a resolved folder with dir/file and links. It skips the test if links can't be created.
func tree(t *testing.T, links map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "dir", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "dir", "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range links {
		if err := os.Symlink(filepath.FromSlash(target), filepath.Join(root, name)); err != nil {
			t.Skipf("links can't be made here: %v", err)
		}
	}
	return root
}

func TestResolveFollowsLinksAsFarAsAPathExists(t *testing.T) {
	root := tree(t, map[string]string{
		"to-file":  "dir/file",
		"to-dir":   "dir",
		"dangling": "dir/new",
		"chain":    "to-dir/../dangling",
	})
	for in, want := range map[string]string{
		"dir/file":         "dir/file",
		"to-file":          "dir/file",
		"to-dir/file":      "dir/file",
		"to-dir/none/deep": "dir/none/deep",
		"dangling":         "dir/new",
		"chain":            "dir/new",
		"none/deep":        "none/deep",
		"to-dir/sub/..":    "dir",
		"dir/file/below":   "dir/file/below",
	} {
		got, err := paths.Resolve(filepath.Join(root, filepath.FromSlash(in)))
		if err != nil {
			t.Errorf("Resolve(%s): %v", in, err)
		} else if got != filepath.Join(root, filepath.FromSlash(want)) {
			t.Errorf("Resolve(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestResolveFollowsAbsoluteLinks(t *testing.T) {
	root := tree(t, nil)
	if err := os.Symlink(filepath.Join(root, "dir", "new"), filepath.Join(root, "abs")); err != nil {
		t.Skipf("links can't be made here: %v", err)
	}
	if got, err := paths.Resolve(filepath.Join(root, "abs")); err != nil || got != filepath.Join(root, "dir", "new") {
		t.Errorf("Resolve = %s, %v", got, err)
	}
}

func TestResolveRefusesLoops(t *testing.T) {
	root := tree(t, map[string]string{"a": "b", "b": "a"})
	if got, err := paths.Resolve(filepath.Join(root, "a", "x")); err == nil {
		t.Errorf("Resolve of a loop gave %s", got)
	}
}

func TestWithin(t *testing.T) {
	root := t.TempDir()
	for in, want := range map[string]bool{"": true, "a": true, "..a": true, "a/../..": false, "..": false, "../" + filepath.Base(root) + "x": false} {
		if got := paths.Within(root, filepath.Join(root, filepath.FromSlash(in))); got != want {
			t.Errorf("Within(%q) = %v", in, got)
		}
	}
}
