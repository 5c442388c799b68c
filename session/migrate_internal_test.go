package session

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

var update = flag.Bool("update", false, "write schema.sql anew")

// A new file is made at once, and is what one that took every migration is, to the last row.
func TestANewFileIsWhatTheMigrationsMake(t *testing.T) {
	t.Parallel()
	at, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	made := func(name string, whole string) *db.DB {
		at.Whole = whole
		d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), name), db.Options{Schema: at})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		return d
	}
	steps := made("steps.db", "")
	if *update {
		if err := os.WriteFile("schema.sql", []byte(written(t, steps)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	atOnce := made("whole.db", whole)
	if want := written(t, steps); whole != want {
		t.Error("schema.sql is not what the migrations make: go test ./session -run TestANewFileIsWhatTheMigrationsMake -update")
	}
	got, want := contents(t, atOnce), contents(t, steps)
	if len(want) < 60 {
		t.Errorf("%d lines say nothing of a database", len(want))
	}
	for i, line := range want {
		if i >= len(got) || got[i] != line {
			t.Fatalf("made at once, it has at %d:\n%s\nwhere the migrations make\n%s", i, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), line)
		}
	}
	if len(got) != len(want) {
		t.Errorf("made at once, it has more: %q", got[len(want):])
	}
}

// written returns the statements that make the tables of a database. The engine makes those of a virtual table, and its
// own, by itself.
func written(t *testing.T, d *db.DB) string {
	t.Helper()
	all, err := db.All(t.Context(), d, `SELECT sql || ';' FROM sqlite_schema s WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY rowid`, nil, db.One[string])
	if err != nil {
		t.Fatal(err)
	}
	return "-- What all migrations make together, for a new file: written by a test, not by hand.\n" + strings.Join(all, "\n") + "\n"
}

// contents returns everything in a database: versions, tables and what their rows are.
func contents(t *testing.T, d *db.DB) (out []string) {
	t.Helper()
	read := func(query string) []string {
		found, err := db.All(t.Context(), d, query, nil, db.One[string])
		if err != nil {
			t.Fatal(query, err)
		}
		return found
	}
	for _, pragma := range []string{"user_version", "application_id", "journal_mode", "page_size", "auto_vacuum", "encoding"} {
		out = append(out, pragma+" "+read("PRAGMA " + pragma)[0])
	}
	out = append(out, read("SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")...)
	for _, table := range read("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
		columns := read("SELECT 'quote(\"' || name || '\")' FROM pragma_table_info('" + table + "')")
		for _, row := range read(fmt.Sprintf("SELECT %s FROM %q ORDER BY 1", strings.Join(columns, " || ' ' || "), table)) {
			out = append(out, table+": "+row)
		}
	}
	return out
}
