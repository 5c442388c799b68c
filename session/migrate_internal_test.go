package session

import (
	"context"
	"path/filepath"
	"testing"
)

// TestEverySchemaVersionIsBroughtUpToDate makes a file of each older version.
func TestEverySchemaVersionIsBroughtUpToDate(t *testing.T) {
	all, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(all); n++ {
		path := filepath.Join(t.TempDir(), "jcode.db")
		old(t, path, all[:n])
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatalf("version %d: %v", n, err)
		}
		v, err := s.Get(t.Context(), "kept")
		if err != nil || v.Title != "old" || len(s.Notices()) > 0 {
			t.Errorf("version %d: %+v, %v, %v", n, v, s.Notices(), err)
		}
		keep(t, s, []byte("x"))
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func old(t *testing.T, path string, steps []migration) {
	t.Helper()
	w, err := newWriter(t.Context(), dsn(path, false))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := apply(t.Context(), w.conn, steps); err != nil {
		t.Fatal(err)
	}
	if _, err := w.conn.ExecContext(t.Context(), "INSERT INTO sessions (id, title, created, updated) VALUES ('kept', 'old', 1, 1)"); err != nil {
		t.Fatal(err)
	}
}

func TestFailedMigrationLeavesTheFileAsItWas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jcode.db")
	all, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	old(t, path, all[:1])
	w, err := newWriter(t.Context(), dsn(path, false))
	if err != nil {
		t.Fatal(err)
	}
	if err := apply(t.Context(), w.conn, append(all[1:len(all):len(all)], migration{version: 99, name: "migrations/missing.sql"})); err == nil {
		t.Error("a missing step was no error")
	}
	var version int
	if err := w.conn.QueryRowContext(context.Background(), "PRAGMA user_version").Scan(&version); err != nil || version != 1 {
		t.Errorf("version %d, %v", version, err)
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestTotalsOfOlderSessionsAreSummedFromTheirMessages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jcode.db")
	all, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	old(t, path, all[:10])
	w, err := newWriter(t.Context(), dsn(path, false))
	if err != nil {
		t.Fatal(err)
	}
	for seq, usage := range []string{`{"input_tokens":9,"cache_write_tokens":4}`, `{"cache_write_tokens":3,"estimated":true}`, `{"input_tokens":1}`, `spoiled`} {
		if _, err := w.conn.ExecContext(t.Context(), "INSERT INTO messages (session, seq, role, created, parts, usage) VALUES (1, ?, 'assistant', 1, '[]', ?)", seq+1, usage); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if got, err := s.Get(t.Context(), "kept"); err != nil || got.WrittenTokens != 7 || !got.Estimated {
		t.Errorf("%+v %v", got, err)
	}
}
