package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/internal/filelock"
	"jcode/session"
)

// An undo that coincides with the edit of another process either waits for it and skips the file,
// or finishes before it: the edit is never overwritten.
func TestUndoNeverWritesOverAnEditThatHappensMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	c, id, path := w.c, w.session, w.path("f")
	locks := filelock.Paths{Dir: w.store.LockFolder()}
	if err := os.WriteFile(path, []byte("theirs=0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	edit := func(change func(string) string) error {
		unlock, err := locks.Lock(t.Context(), path)
		if err != nil {
			return err
		}
		defer unlock()
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(change(string(data))), 0o644)
	}
	const rounds = 40
	for n := 1; n <= rounds; n++ {
		// Our own turn changes the file, and is undone while the other process edits it.
		err := func() error {
			unlock, err := locks.Lock(t.Context(), path)
			if err != nil {
				return err
			}
			defer unlock()
			done, err := c.Track(t.Context(), id, n, []string{path})
			if err != nil {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path, append(data, "ours\n"...), 0o644); err != nil {
				return err
			}
			return done(t.Context(), session.Written{})
		}()
		if err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		both.Go(func() {
			if _, err := c.Undo(t.Context(), id); err != nil {
				t.Error(err)
			}
		})
		both.Go(func() {
			err := edit(func(text string) string {
				return strings.Replace(text, fmt.Sprintf("theirs=%d\n", n-1), fmt.Sprintf("theirs=%d\n", n), 1)
			})
			if err != nil {
				t.Error(err)
			}
		})
		both.Wait()
		data, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(data), fmt.Sprintf("theirs=%d\n", n)) {
			t.Fatalf("round %d: their edit is lost: %q, %v", n, data, err)
		}
		if err := edit(func(string) string { return fmt.Sprintf("theirs=%d\n", n) }); err != nil {
			t.Fatal(err)
		}
	}
}

// Esc while an undo waits for a file must not exclude the file from later undos.
func TestAnInterruptedUndoCanBeRepeated(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	w.person("f", "before")
	w.toolWrites(1, "f", "after")
	locks := filelock.Paths{Dir: w.store.LockFolder()}
	unlock, err := locks.Lock(t.Context(), w.path("f"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if r, err := w.c.Undo(ctx, w.session); !errors.Is(err, context.DeadlineExceeded) || len(r.Skipped) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	unlock()
	r, err := w.c.Undo(t.Context(), w.session)
	if err != nil || len(r.Restored) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if data, err := os.ReadFile(w.path("f")); err != nil || string(data) != "before" {
		t.Errorf("%q, %v", data, err)
	}
}

// A file that another program saved while it was changed is put back as that program saved it.
func TestUndoRestoresWhatAnotherProgramSavedDuringTheChange(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := newSession(t, s, "p").ID
	path := filepath.Join(t.TempDir(), "f")
	c := s.Checkpoints()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for turn, first := range []string{"read\n", "ours and saved\n"} {
		write(first)
		done, err := c.Track(t.Context(), id, 1, []string{path})
		if err != nil {
			t.Fatal(err)
		}
		if turn == 0 {
			if err := c.Found(t.Context(), id, 1, path, []byte("read\n"), []byte("saved\n")); err != nil {
				t.Fatal(err)
			}
		}
		write("ours and saved\n")
		if err := done(t.Context(), session.Written{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Undo(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "saved\n" {
		t.Errorf("undone to %q, %v", got, err)
	}
}

// A program that replaces a file by two renames holds it away for a moment, and one that writes in place holds it half
// written: what Track saw then is not what a tool replaced.
func TestAFileThatAnotherProgramHeldAwayAtTrackIsNotNew(t *testing.T) {
	t.Parallel()
	for name, seen := range map[string]*string{"away": nil, "half written": new("re")} {
		for _, found := range []string{"read\n", "saved\n"} {
			t.Run(name+", "+found, func(t *testing.T) {
				s := open(t)
				id := newSession(t, s, "p").ID
				path := filepath.Join(t.TempDir(), "f")
				c := s.Checkpoints()
				write := func(text string) {
					t.Helper()
					if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				other := path + "2" // the text is known from elsewhere
				if err := os.WriteFile(other, []byte("read\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				elsewhere, err := c.Track(t.Context(), id, 1, []string{other})
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(os.WriteFile(other, nil, 0o600), elsewhere(t.Context(), session.Written{})); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				if seen != nil {
					write(*seen)
				}
				done, err := c.Track(t.Context(), id, 1, []string{path})
				if err != nil {
					t.Fatal(err)
				}
				write(found)
				if found != "read\n" {
					if err := c.Found(t.Context(), id, 1, path, []byte("read\n"), []byte(found)); err != nil {
						t.Fatal(err)
					}
				}
				written := "ours and " + found
				write(written)
				if err := done(t.Context(), session.Written{Files: map[string][]byte{path: []byte(written)}, Replaced: map[string][]byte{path: []byte(found)}}); err != nil {
					t.Fatal(err)
				}
				if lost, err := c.Overwritten(t.Context(), began); err != nil || len(lost) != 0 {
					t.Errorf("%v are told as overwritten, %v", lost, err)
				}
				if _, err := c.Undo(t.Context(), id); err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(path); err != nil || string(got) != found {
					t.Errorf("undone to %q, %v", got, err)
				}
			})
		}
	}
}
