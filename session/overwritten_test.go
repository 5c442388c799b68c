package session_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"jcode/session"
)

func TestWhatACommandOverwroteIsFoundAndUndone(t *testing.T) {
	t.Parallel()
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
		if err := done(t.Context(), session.Written{}); err != nil {
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

// What a tool wrote counts as its change although a command replaced it before the tool had ended, or removed it.
func TestAChangeThatIsOverwrittenBeforeItsToolEndsIsFound(t *testing.T) {
	t.Parallel()
	s := open(t)
	theirs := newSession(t, s, "p").ID
	c := s.Checkpoints()
	began := time.Now().Add(-time.Second)
	for name, held := range map[string]string{"replaced": "one\ntwo!\n", "removed": ""} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		done, err := c.Track(t.Context(), theirs, 1, []string{path})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if held != "" {
			if err := os.WriteFile(path, []byte(held), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		found := make(chan []session.Overwritten)
		go func() { // a command ends while the tool has not
			list, err := c.Overwritten(t.Context(), began)
			if err != nil {
				t.Error(err)
			}
			found <- list
		}()
		if err := done(t.Context(), session.Written{Files: map[string][]byte{path: []byte("ONE\ntwo\n")}}); err != nil {
			t.Fatal(err)
		}
		if list := <-found; len(list) != 1 || list[0].Path != path {
			t.Errorf("%s: found %+v", name, list)
		}
		r, err := c.Undo(t.Context(), theirs)
		if err != nil || len(r.Restored) > 0 || len(r.Skipped) != 1 {
			t.Errorf("%s: undo takes back what another did: %+v, %v", name, r, err)
		}
	}
}

// A change that was not made because another program changed the file leaves nothing to undo, and keeps what the
// turn had done before.
func TestAChangeThatWasNotMadeIsNotUndone(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	path := w.path("f")
	if err := os.WriteFile(path, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.toolWrites(1, "f", "1")
	done, err := w.c.Track(t.Context(), w.session, 1, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("saved by another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := done(t.Context(), session.Written{Nothing: true}); err != nil {
		t.Fatal(err)
	}
	r, err := w.c.Undo(t.Context(), w.session)
	if err != nil || len(r.Skipped) != 1 || len(r.Restored) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "saved by another" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestASessionIsToldOnceWhatACommandOfAnotherOverwrote(t *testing.T) {
	t.Parallel()
	s := open(t)
	mine, theirs := newSession(t, s, "p").ID, newSession(t, s, "p").ID
	edits := s.Edits()
	for range 2 { // the same again is told once
		if err := edits.NoteOverwritten(t.Context(), mine, map[string][]string{"/x/f": {theirs}, "/x/a": {theirs}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{2, 0} {
		list, err := edits.TakeOverwritten(t.Context(), theirs)
		if err != nil || len(list) != want {
			t.Fatalf("%+v, %v", list, err)
		}
		if want == 2 && (list[0].Path != "/x/a" || list[0].By.Session != mine) {
			t.Errorf("%+v", list)
		}
	}
	if list, err := edits.TakeOverwritten(t.Context(), mine); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
}
