package session_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestWhatACommandOverwroteIsFoundAndUndone(t *testing.T) {
	s := open(t)
	theirs, ours := newSession(t, s, "p").ID, newSession(t, s, "p").ID
	path := filepath.Join(t.TempDir(), "f")
	c := s.Checkpoints()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now().Add(-time.Second)
	change := func(text string) {
		t.Helper()
		done, err := c.Track(t.Context(), theirs, 1, []string{path})
		if err != nil {
			t.Fatal(err)
		}
		write(text)
		if err := done(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	lost := func() int {
		t.Helper()
		list, err := c.Overwritten(t.Context(), began)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	write("one\ntwo\nthree\n")
	change("ONE\ntwo\nthree\n")
	write("ONE\ntwo\nTHREE\n") // the command changed another line
	if n := lost(); n != 0 {
		t.Errorf("%d changes are said to be lost that are there", n)
	}
	change("ONE\nTWO\nTHREE\n")
	write("ONE\ntwo\nthree!\n") // it wrote what it had read before
	list, err := c.Overwritten(t.Context(), began)
	if err != nil || len(list) != 1 || list[0].Path != path {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := c.KeepOverwritten(t.Context(), ours, 1, list); err != nil {
		t.Fatal(err)
	}
	if n := lost(); n != 0 {
		t.Errorf("what was kept is said to be lost again: %d", n)
	}
	if _, err := c.Undo(t.Context(), ours); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "ONE\nTWO\nTHREE\n" {
		t.Errorf("undone to %q, %v", got, err)
	}
}
