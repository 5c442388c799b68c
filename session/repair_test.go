package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/session"
)

// pageSize is that of the database file.
const pageSize = 4096

// filled makes a database with sessions of twenty messages each, and returns its file's content.
func filled(t *testing.T) (content []byte, ids []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jcode.db")
	s, err := session.Open(t.Context(), path, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		id := newSession(t, s, "p").ID
		ids = append(ids, id)
		for k := range 20 {
			text := fmt.Sprintf("message %d of conversation %d about word%dx%d %s", k, i, i, k, strings.Repeat("and so on ", 60))
			if _, err := s.History().Append(t.Context(), session.Message{Session: id, Role: session.RoleUser, Parts: []session.Part{{Kind: session.PartText, Text: text}}}); err != nil {
				t.Fatal(err)
			}
			if k == 10 {
				if _, err := s.Checkpoints().Begin(t.Context(), id, "a change without a message"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content, ids
}

// spoiled writes a copy of a file that is changed.
func spoiled(t *testing.T, content []byte, change func([]byte)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jcode.db")
	data := append([]byte(nil), content...)
	change(data)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// kept counts the messages of sessions that can be read, and those that are named as lost.
func kept(t *testing.T, s *session.Store, ids []string) (good, broken int) {
	t.Helper()
	for _, id := range ids {
		all, err := s.History().All(t.Context(), id)
		if err != nil {
			t.Errorf("session %s: %v", id, err)
		}
		for _, m := range all {
			if m.Broken != "" {
				broken++
			} else {
				good++
			}
		}
	}
	return good, broken
}

func TestAFlippedByteOfTheHeaderLosesNoSession(t *testing.T) {
	t.Parallel()
	content, ids := filled(t)
	for _, at := range []int{0, 15, 16, 17, 18, 19, 20, 21, 23, 27, 28, 31, 35, 39, 43, 44, 47, 51, 55, 56, 59, 60, 63, 67, 68, 71, 95, 99} {
		path := spoiled(t, content, func(b []byte) { b[at] ^= 0xff })
		s, err := session.Open(t.Context(), path, session.Options{})
		if err != nil {
			t.Errorf("byte %d: %v", at, err)
			continue
		}
		if good, broken := kept(t, s, ids); good != 240 || broken != 0 {
			t.Errorf("byte %d: %d messages, %d lost: %v", at, good, broken, s.Notices())
		}
		if hits, err := s.Search(t.Context(), "word3x7", "", 5); err != nil || len(hits) != 1 {
			t.Errorf("byte %d: %v", at, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestRepairCopiesWhatCanBeRead(t *testing.T) {
	t.Parallel()
	content, ids := filled(t)
	lost, unreadable, more := 0, 0, 0
	part := 8
	if testing.Short() { // the race detector makes a copy ten times slower
		part = 2
	}
	for page := 1; page < len(content)/pageSize; page += 1 + page/part {
		path := spoiled(t, content, func(b []byte) {
			for i := range pageSize {
				b[page*pageSize+i] = 0xff
			}
		})
		done, err := session.Repair(t.Context(), path, session.Options{})
		if err != nil { // the list of tables goes over several pages
			asides, globErr := filepath.Glob(path + ".damaged-*")
			if unreadable++; unreadable > 2 || globErr != nil || len(asides) == 0 || !strings.Contains(err.Error(), "list of tables") {
				t.Errorf("page %d: %v; kept: %v", page, err, asides)
			}
			continue
		}
		s, err := session.Open(t.Context(), path, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if faults, err := s.Check(t.Context()); err != nil || len(faults) > 0 {
			t.Errorf("page %d: after the repair: %q, %v", page, faults, err)
		}
		list, err := s.List(t.Context(), session.Filter{All: true})
		if err != nil || len(list) != len(ids) {
			t.Errorf("page %d: %d sessions, %v: %+v", page, len(list), err, done)
		}
		var there []string
		for _, v := range list {
			there = append(there, v.ID)
		}
		good, broken := kept(t, s, there)
		if good+broken > 240 { // the page that says which numbers no message has
			more++
		} else if good+broken != 240 && good > 0 {
			t.Errorf("page %d: %d messages and %d notes of lost ones", page, good, broken)
		}
		lost += broken
		if broken > 0 && len(done.Lost) == 0 {
			t.Errorf("page %d: %d messages lost, and nothing said", page, broken)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		sound(t, path)
	}
	if lost == 0 {
		t.Error("no page held messages")
	}
	if more > 1 {
		t.Errorf("with %d pages, numbers of changes are taken for lost messages", more)
	}
}

func TestSessionsOfAFileThatWasMovedAsideComeBack(t *testing.T) {
	t.Parallel()
	content, ids := filled(t)
	path := spoiled(t, content, func(b []byte) { b[3] = 0 })
	if err := os.Rename(path, path+".damaged-20260101T000000"); err != nil {
		t.Fatal(err)
	}
	newer := newSession(t, openAt(t, path), "p").ID
	for _, want := range []int{len(ids), 0} { // the second time all are there, or were deleted on purpose
		done, err := session.Repair(t.Context(), path, session.Options{})
		if err != nil || done.Back != want || done.Aside != "" {
			t.Fatalf("%+v, %v", done, err)
		}
		s := openAt(t, path)
		if good, broken := kept(t, s, append(ids, newer)); want > 0 && (good != 240 || broken != 0) {
			t.Errorf("%d messages, %d lost", good, broken)
		}
		if hits, err := s.Search(t.Context(), "word3x7", "", 5); err != nil || len(hits) > 1 {
			t.Errorf("%v, %v", hits, err)
		}
		if want > 0 {
			if err := s.Delete(t.Context(), ids[0]); err != nil {
				t.Error(err)
			}
			ids = ids[1:]
		}
	}
}
