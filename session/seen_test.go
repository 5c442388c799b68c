package session_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/session"
)

// later waits until the clock shows another time: times are kept in milliseconds.
func later(t *testing.T) {
	t.Helper()
	now := time.Now().UnixMilli()
	eventually.True(t, "another millisecond", func() bool { return time.Now().UnixMilli() > now })
}

func TestWhatASessionWasShownOfFilesIsKeptForkedAndRewound(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := newSession(t, s, "p")
	put := func(path, text string) {
		t.Helper()
		later(t)
		if _, err := s.Seen().Put(t.Context(), v.ID, path, session.SeenFile{Known: []byte("k"), Text: text, Hidden: [][2]int{{1, 2}}, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		later(t)
	}
	get := func(id, path string) string {
		t.Helper()
		f, err := s.Seen().Get(t.Context(), id, path, 0)
		if errors.Is(err, session.ErrNotFound) {
			return ""
		}
		if err != nil || string(f.Known) != "k" || !slices.Equal(f.Hidden, [][2]int{{1, 2}}) || f.At.IsZero() {
			t.Errorf("%+v, %v", f, err)
		}
		return f.Text
	}
	say(t, s, v.ID, session.RoleUser, "one")
	put("/w/a", "a\n")
	say(t, s, v.ID, session.RoleAssistant, "answer")
	say(t, s, v.ID, session.RoleUser, "two")
	put("/w/b", "b\n")
	whole, err := s.Fork(t.Context(), v.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := get(whole.ID, "/w/a"), get(whole.ID, "/w/b"); a != "a\n" || b != "b\n" {
		t.Errorf("the fork was shown %q and %q", a, b)
	}
	early, err := s.Fork(t.Context(), v.ID, 2)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := get(early.ID, "/w/a"), get(early.ID, "/w/b"); a != "a\n" || b != "" {
		t.Errorf("the fork at an earlier message was shown %q and %q", a, b)
	}
	if _, err := s.History().Rewind(t.Context(), v.ID, 3); err != nil {
		t.Fatal(err)
	}
	if a, b := get(v.ID, "/w/a"), get(v.ID, "/w/b"); a != "a\n" || b != "" {
		t.Errorf("after a rewind it was shown %q and %q", a, b)
	}
	if err := s.Seen().Move(t.Context(), v.ID, "/w", "/x"); err != nil {
		t.Fatal(err)
	}
	if a, old := get(v.ID, "/x/a"), get(v.ID, "/w/a"); a != "a\n" || old != "" {
		t.Errorf("moved: %q and %q", a, old)
	}
	first, err := s.Seen().Get(t.Context(), v.ID, "/x/a", 0)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := s.Seen().Get(t.Context(), v.ID, "/x/a", first.N); err != nil || same.Text != "" || same.N != first.N {
		t.Errorf("what is known is read again: %+v, %v", same, err)
	}
	if err := s.Delete(t.Context(), v.ID); err != nil {
		t.Fatal(err)
	}
	if got := get(v.ID, "/x/a"); got != "" {
		t.Errorf("a deleted session was shown %q", got)
	}
}
