package session

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// keep puts bytes into the store and returns their hash.
func keep(t *testing.T, s *Store, data []byte) string {
	t.Helper()
	b, err := pack(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.write(t.Context(), func(tx *tx) error { return tx.putBlob(b) }); err != nil {
		t.Fatal(err)
	}
	return b.hash
}

func TestBytesComeBackAsTheyWereKept(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "jcode.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, data := range [][]byte{nil, []byte("short"), bytes.Repeat([]byte("long "), 10000), {0xff, 0, 1}} {
		hash := keep(t, s, data)
		if again := keep(t, s, data); again != hash {
			t.Error(again)
		}
		if got, err := s.blob(t.Context(), hash); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes came back, %v", len(got), err)
		}
	}
	hash := keep(t, s, []byte("damaged later"))
	if err := s.write(t.Context(), func(tx *tx) error {
		_, err := tx.Exec("UPDATE blobs SET bytes = x'00' WHERE hash = ?", hash)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.blob(t.Context(), hash); err == nil {
		t.Error("damaged bytes were returned")
	}
}

func TestContentsGoWithTheLastSessionThatCouldUndoThem(t *testing.T) {
	t.Parallel()
	now := time.Now()
	dir := t.TempDir()
	s, err := Open(t.Context(), filepath.Join(dir, "jcode.db"), Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	create := func() string {
		v, err := s.Create(t.Context(), Session{ProjectID: "p"})
		if err != nil {
			t.Fatal(err)
		}
		return v.ID
	}
	remove := func(id string) {
		t.Helper()
		if err := s.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "file")
	content := []byte("before the tool")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	id := create()
	done, err := s.Checkpoints().Track(t.Context(), id, 1, []string{file})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("after it"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := done(t.Context(), Written{}); err != nil {
		t.Fatal(err)
	}
	hash := contentHash(content)
	remove(create())
	if _, err := s.blob(t.Context(), hash); err != nil {
		t.Errorf("the content is gone with another session: %v", err)
	}
	remove(id)
	if _, err := s.blob(t.Context(), hash); err != nil {
		t.Errorf("a young content is gone: %v", err)
	}
	now = now.Add(2 * time.Hour)
	remove(create())
	if _, err := s.blob(t.Context(), hash); !errors.Is(err, ErrNotFound) {
		t.Errorf("what nothing names is there: %v", err)
	}
}
