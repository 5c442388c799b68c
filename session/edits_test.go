package session_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"jcode/session"
)

func titled(t *testing.T, s *session.Store, title string) session.Session {
	row := newSession(t, s, "p")
	if _, err := s.SetAutoTitle(t.Context(), row.ID, title); err != nil {
		t.Fatal(err)
	}
	return row
}

func TestOthersLearnWhoChangedAFile(t *testing.T) {
	t.Parallel()
	s := open(t)
	mine, theirs := newSession(t, s, "p"), titled(t, s, "their work")
	dir := t.TempDir()
	changed, same := filepath.Join(dir, "changed"), filepath.Join(dir, "same")
	for _, path := range []string{changed, same} {
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Now().Add(-time.Second)
	done, err := s.Checkpoints().Track(t.Context(), theirs.ID, 1, []string{changed, same})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(changed, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := done(t.Context(), session.Written{}); err != nil {
		t.Fatal(err)
	}
	who := func(asks, path string, since time.Time) []session.Editor {
		list, err := s.Edits().Editors(t.Context(), asks, path, since)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if list := who(mine.ID, changed, before); len(list) != 1 || list[0].Session != theirs.ID || list[0].Who() != `the session "their work"` {
		t.Errorf("%+v", list)
	}
	if len(who(theirs.ID, changed, before))+len(who(mine.ID, same, before))+len(who(mine.ID, changed, time.Now().Add(time.Minute))) != 0 {
		t.Error("a session hears of itself, of a file that is as it was, or of what it knows")
	}
}

func TestClaimHoldsForWhatLiesBelowAndEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	s := open(t)
	mine, theirs := newSession(t, s, "p"), titled(t, s, "their work")
	root := t.TempDir()
	claimed := func(path string) int {
		list, err := s.Edits().Claims(t.Context(), mine.ID, path)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if err := s.Edits().Claim(t.Context(), theirs.ID, []string{filepath.Join(root, "src")}); err != nil {
		t.Fatal(err)
	}
	if n := claimed(""); n != 0 {
		t.Errorf("%d claims of a session that nobody works in", n)
	}
	hold, err := s.Hold(theirs.ID)
	if err != nil {
		t.Fatal(err)
	}
	got := []int{claimed(""), claimed(filepath.Join(root, "src")), claimed(filepath.Join(root, "src", "a", "b.go")), claimed(filepath.Join(root, "srcs")), claimed(root)}
	if !slices.Equal(got, []int{1, 1, 1, 0, 0}) {
		t.Errorf("claims %v", got)
	}
	if err := s.Edits().Claim(t.Context(), theirs.ID, nil); err != nil {
		t.Fatal(err)
	}
	if n := claimed(""); n != 0 {
		t.Error("a claim that was withdrawn is still in force")
	}
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
}
