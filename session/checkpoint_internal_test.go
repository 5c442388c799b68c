package session

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWhatIsTooLargeIsChangedAndSaid(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "jcode.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	v, err := s.Create(t.Context(), Session{})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := s.Checkpoints()
	c.limits = limits{file: 100, total: 150, entries: 5}
	write := func(name string, size int) string {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(strings.Repeat("x", size)), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	big, small, second := write("big", 101), write("small", 90), write("second", 80)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		write("many/"+name, 1)
	}
	many := filepath.Join(dir, "many")
	for turn, paths := range [][]string{{big, small, second}, {many}} {
		done, err := c.Track(t.Context(), v.ID, turn+1, paths)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			if err := os.RemoveAll(p); err != nil {
				t.Fatal(err)
			}
		}
		if err := done(t.Context(), Written{}); err != nil {
			t.Fatal(err)
		}
	}

	r, err := c.Undo(t.Context(), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cannot) != 1 || !strings.Contains(r.Cannot[0], "beyond the first 5") {
		t.Errorf("many files: %+v", r)
	}
	if left, _ := os.ReadDir(many); len(left) != 4 {
		t.Errorf("%d files are back", len(left))
	}
	r, err = c.Undo(t.Context(), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	var skipped []string
	for _, p := range r.Skipped {
		skipped = append(skipped, filepath.Base(p.Path)+": "+p.What)
	}
	slices.Sort(skipped)
	if !slices.Equal(skipped, []string{"big: too large to keep", "second: too large to keep"}) || len(r.Restored) != 1 {
		t.Errorf("large files: %+v", r)
	}
}
