package session

import (
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"jcode/session/db"
)

// migrations returns the number of migrations.
func migrations(t *testing.T) int {
	t.Helper()
	all, err := fs.ReadDir(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// old creates a file of an older version with one session.
func old(t *testing.T, path string, version int, more ...string) {
	t.Helper()
	now, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	all, err := fs.ReadDir(now.Files, ".")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, f := range all[:version] {
		text, err := fs.ReadFile(now.Files, f.Name())
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name()] = &fstest.MapFile{Data: text}
	}
	d, err := db.Open(t.Context(), path, db.Options{Schema: db.Schema{Files: files, ApplicationID: applicationID}})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(t.Context(), func(t *db.Tx) error {
		for _, q := range append([]string{"INSERT INTO sessions (id, title, created, updated) VALUES ('kept', 'old', 1, 1)"}, more...) {
			if _, err := t.Exec(q); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestEverySchemaVersionIsBroughtUpToDate creates and opens a file of each older version.
func TestEverySchemaVersionIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	for n := 1; n < migrations(t); n++ {
		path := filepath.Join(t.TempDir(), "jcode.db")
		old(t, path, n)
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

func TestTotalsOfOlderSessionsAreSummedFromTheirMessages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jcode.db")
	const insert = "INSERT INTO messages (session, seq, role, created, parts, usage) VALUES (1, "
	old(t, path, 10,
		insert+`1, 'assistant', 1, '[]', '{"input_tokens":9,"cache_write_tokens":4}')`,
		insert+`2, 'assistant', 1, '[]', '{"cache_write_tokens":3,"estimated":true}')`,
		insert+`3, 'assistant', 1, '[]', '{"input_tokens":1}')`,
		insert+`4, 'assistant', 1, '[]', 'spoiled')`)
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if got, err := s.Get(t.Context(), "kept"); err != nil || got.WrittenTokens != 7 || !got.Estimated {
		t.Errorf("%+v %v", got, err)
	}
}
