package session_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"jcode/session"
)

// disk is what is below a folder: content by name, "/" for folders.
func disk(dir string) map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		name, _ := filepath.Rel(dir, p)
		if d.IsDir() {
			all[name] = "/"
			return nil
		}
		b, err := os.ReadFile(p)
		all[name] = string(b)
		return err
	})
	return all
}

// TestUndoRestoresEverythingAndTouchesNothingElse lets tools and a person change files in
// any order. Without the person, undoing all turns restores the first state and redoing all
// restores the last. With the person, no content of theirs is lost.
func TestUndoRestoresEverythingAndTouchesNothingElse(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := s.Checkpoints()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		dir := filepath.Join(base, fmt.Sprint(round))
		if err := os.Mkdir(dir, 0o755); err != nil {
			rt.Fatal(err)
		}
		v, err := s.Create(t.Context(), session.Session{})
		if err != nil {
			rt.Fatal(err)
		}
		name := rapid.SampledFrom([]string{"a", "b", "d", filepath.Join("d", "x"), filepath.Join("d", "y"), filepath.Join("d", "e"), filepath.Join("d", "e", "z")})
		number := 0
		content := func(who string) string { number++; return fmt.Sprint(who, " ", number) }
		put := func(p, text string) {
			if os.MkdirAll(filepath.Dir(p), 0o755) == nil {
				_ = os.WriteFile(p, []byte(text), 0o644) // it may be a folder
			}
		}
		for range rapid.IntRange(0, 4).Draw(rt, "files") {
			put(filepath.Join(dir, name.Draw(rt, "file")), content("first"))
		}
		first := disk(dir)
		withPerson := rapid.Bool().Draw(rt, "person")
		persons := map[string]string{} // by content: where the person put it
		turns := rapid.IntRange(1, 4).Draw(rt, "turns")
		for turn := 1; turn <= turns; turn++ {
			for range rapid.IntRange(1, 4).Draw(rt, "calls") {
				p, q := filepath.Join(dir, name.Draw(rt, "path")), filepath.Join(dir, name.Draw(rt, "target"))
				if withPerson && rapid.IntRange(0, 3).Draw(rt, "who") == 0 {
					text := content("person")
					put(p, text)
					persons[text] = p
					continue
				}
				// Missing parents are made by the change, so they belong to it.
				paths := []string{filepath.Join(dir, "d"), p}
				what := rapid.SampledFrom([]string{"write", "remove", "mv", "mkdir"}).Draw(rt, "what")
				if what == "mv" {
					paths = append(paths, q)
				}
				done, err := c.Track(t.Context(), v.ID, turn, paths)
				if err != nil {
					rt.Fatal(err)
				}
				switch what {
				case "write":
					put(p, content("tool"))
				case "remove":
					_ = os.RemoveAll(p)
				case "mv":
					_ = os.Rename(p, q)
				case "mkdir":
					_ = os.MkdirAll(p, 0o755)
				}
				if err := done(t.Context(), session.Written{}); err != nil {
					rt.Fatal(err)
				}
			}
		}
		last := disk(dir)
		all := func(f func() (session.UndoReport, error)) {
			for {
				r, err := f()
				if errors.Is(err, session.ErrNothing) {
					return
				}
				if err != nil {
					rt.Fatal(err)
				}
				if !withPerson && len(r.Skipped) > 0 {
					rt.Fatalf("skipped %+v", r.Skipped)
				}
			}
		}
		all(func() (session.UndoReport, error) { return c.Undo(t.Context(), v.ID) })
		if !withPerson {
			if got := disk(dir); !maps.Equal(got, first) {
				rt.Fatalf("undone: %v, want %v", got, first)
			}
		}
		for text, p := range persons {
			rel, _ := filepath.Rel(dir, p)
			if got := disk(dir)[rel]; last[rel] == text && got != text {
				rt.Fatalf("the person's %s in %s became %q", text, rel, got)
			}
		}
		all(func() (session.UndoReport, error) { return c.Redo(t.Context(), v.ID) })
		if !withPerson {
			if got := disk(dir); !maps.Equal(got, last) {
				rt.Fatalf("redone: %v, want %v", got, last)
			}
		}
	})
}
