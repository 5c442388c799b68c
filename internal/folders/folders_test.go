package folders_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"jcode/internal/folders"
)

// tree makes folders (names that end with /), links (name -> target) and files, and returns their top.
func tree(t *testing.T, names []string, links map[string]string) string {
	t.Helper()
	top := t.TempDir()
	for _, name := range names {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(top, filepath.FromSlash(name))); err != nil {
			t.Skipf("cannot make links: %v", err)
		}
	}
	return top
}

func visited(t *testing.T, w folders.Walk, top string) []string {
	t.Helper()
	var out []string
	if err := w.Run(t.Context(), top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if d.IsDir() {
			rel += "/"
		}
		if out = append(out, filepath.ToSlash(rel)); len(out) > 1000 {
			return errors.New("the walk does not end")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEachFolderIsEnteredOnceWhateverLinksLeadToIt(t *testing.T) {
	top := tree(t, []string{"a/file", "b/file"}, map[string]string{"x": ".", "y": ".", "a/up": "..", "a/side": "../b"})
	want := []string{"./", "a/", "a/file", "a/side/", "a/side/file", "a/up/", "b/", "x/", "y/"}
	if got := visited(t, folders.Walk{Links: true}, top); !slices.Equal(got, want) {
		t.Errorf("visited %q, want %q", got, want)
	}
	want = []string{"./", "a/", "a/file", "a/side", "a/up", "b/", "b/file", "x", "y"}
	if got := visited(t, folders.Walk{}, top); !slices.Equal(got, want) {
		t.Errorf("without links: visited %q, want %q", got, want)
	}
}

func TestWalkEndsAtItsLimitAndWithItsContext(t *testing.T) {
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("d%02d/file", i))
	}
	top := tree(t, names, nil)
	if got := visited(t, folders.Walk{MaxEntries: 10}, top); len(got) != 10 {
		t.Errorf("visited %d entries, want 10", len(got))
	}
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	err := folders.Walk{}.Run(ctx, top, func(string, fs.DirEntry, error) error {
		if seen++; seen == 5 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || seen != 5 {
		t.Errorf("visited %d entries after the end of the context, error %v", seen-5, err)
	}
}

func TestSkippedFoldersAreNotEntered(t *testing.T) {
	top := tree(t, []string{"a/file", "b/file", "c/file"}, nil)
	var out []string
	err := folders.Walk{}.Run(t.Context(), top, func(path string, _ fs.DirEntry, _ error) error {
		out = append(out, filepath.Base(path))
		switch filepath.Base(path) {
		case "a":
			return fs.SkipDir
		case "c":
			return fs.SkipAll
		}
		return nil
	})
	if want := []string{filepath.Base(top), "a", "b", "file", "c"}; err != nil || !slices.Equal(out, want) {
		t.Errorf("visited %q, want %q (%v)", out, want, err)
	}
}
