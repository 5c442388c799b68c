//go:build !windows

package search

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFoldersOpenedPartByPartAreTheSameAndFollowNoLink(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b", "c"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"l": "a", "a/up": "..", "out": t.TempDir()} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	top, err := openTop(root)
	if err != nil {
		t.Fatal(err)
	}
	defer top.close()
	for path, want := range map[string][]string{"": {"a", "l", "out"}, "a": {"b", "up"}, "a/b": {"c"}, "a/b/c": nil, "l": nil, "l/b": nil, "a/up/a": nil, "out": nil, "none": nil} {
		for name, open := range map[string]func(string) (handle, error){"folder": top.folder, "stepwise": top.stepwise} {
			h, err := open(path)
			if err != nil {
				if want != nil || path == "a/b/c" {
					t.Errorf("%s(%q): %v", name, path, err)
				}
				continue
			}
			entries, err := h.list(make([]byte, 4096))
			h.close()
			var got []string
			for _, e := range entries {
				got = append(got, e.name)
			}
			slices.Sort(got)
			if err != nil || !slices.Equal(got, want) || want == nil && path != "a/b/c" {
				t.Errorf("%s(%q) lists %q, %v, want %q", name, path, got, err, want)
			}
		}
	}
}
