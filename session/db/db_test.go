package db_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"jcode/internal/testkit/leaks"
	"jcode/session/db"
)

func TestMain(m *testing.M) { leaks.Main(m) }

const appID = 42

// tables is a schema of one step for each text.
func tables(steps ...string) db.Schema {
	files := fstest.MapFS{}
	for i, text := range steps {
		files[fmt.Sprintf("%04d_step.sql", i+1)] = &fstest.MapFile{Data: []byte(text)}
	}
	return db.Schema{Files: files, ApplicationID: appID}
}

const words = "CREATE TABLE words (word TEXT PRIMARY KEY)"

func file(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "jcode.db")
}

func open(t *testing.T, path string, schema db.Schema) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), path, db.Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, d)
	return d
}

func closeAtEnd(t *testing.T, d *db.DB) {
	t.Helper()
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

func add(ctx context.Context, d *db.DB, word string) error {
	return d.Write(ctx, func(t *db.Tx) error {
		_, err := t.Exec("INSERT INTO words (word) VALUES (?)", word)
		return err
	})
}

// all returns the words, sorted and joined.
func all(t *testing.T, d *db.DB) string {
	t.Helper()
	var found []string
	err := d.Each(t.Context(), "SELECT word FROM words ORDER BY word", nil, func(scan func(...any) error) error {
		var w string
		err := scan(&w)
		found = append(found, w)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(found, " ")
}

// raw opens the file without the package.
func raw(t *testing.T, path, statement string) {
	t.Helper()
	pool, err := sql.Open("sqlite", path+"?_busy_timeout=10000")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	if _, err := pool.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestAWriteIsCommittedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	path := file(t)
	d := open(t, path, tables(words))
	if err := add(t.Context(), d, "one"); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	err := d.Write(t.Context(), func(t *db.Tx) error {
		if _, err := t.Exec("INSERT INTO words (word) VALUES ('half')"); err != nil {
			return err
		}
		return stop
	})
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	if err := add(t.Context(), d, "one"); err == nil {
		t.Error("a second row with the same key was written")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := add(ctx, d, "late"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	if err := d.Write(ctx, func(t *db.Tx) error {
		cancel()
		_, err := t.Exec("INSERT INTO words (word) VALUES ('two')")
		return err
	}); err != nil {
		t.Errorf("a transaction that had begun: %v", err)
	}
	if got := all(t, open(t, path, tables(words))); got != "one two" {
		t.Errorf("the file has %q", got)
	}
}

func TestRowsAreReadInsideAndOutsideOfATransaction(t *testing.T) {
	t.Parallel()
	d := open(t, file(t), tables(words))
	if err := add(t.Context(), d, "one"); err != nil {
		t.Fatal(err)
	}
	const query = "SELECT word FROM words WHERE word = ?"
	var got string
	if err := d.Row(t.Context(), query, []any{"one"}, &got); err != nil || got != "one" {
		t.Errorf("%q, %v", got, err)
	}
	if err := d.Row(t.Context(), query, []any{"none"}, &got); !errors.Is(err, db.ErrNotFound) {
		t.Error(err)
	}
	if err := d.Each(t.Context(), "DELETE FROM words RETURNING word", nil, func(scan func(...any) error) error { return scan(&got) }); err == nil {
		t.Error("a reading connection wrote")
	}
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec("INSERT INTO words (word) VALUES ('two')"); err != nil {
			return err
		}
		count := 0
		if err := tx.Each("SELECT word FROM words", nil, func(scan func(...any) error) error { count++; return scan(&got) }); err != nil || count != 2 {
			t.Errorf("%d rows, %v", count, err)
		}
		if err := tx.Row(query, []any{"none"}, &got); !errors.Is(err, db.ErrNotFound) {
			t.Error(err)
		}
		if outside := all(t, d); outside != "one" {
			t.Errorf("before the commit others read %q", outside)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if got := all(t, d); got != "one two" {
		t.Errorf("after the commit others read %q", got)
	}
}

// The tests of session check in separate processes what Leave leaves on the disk.
func TestAClosedDatabaseIsNotUsed(t *testing.T) {
	t.Parallel()
	path := file(t)
	d, err := db.Open(t.Context(), path, db.Options{Schema: tables(words)})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(add(t.Context(), d, "kept"), d.Close(), d.Close()); err != nil {
		t.Fatal(err)
	}
	if err := add(t.Context(), d, "late"); !errors.Is(err, sql.ErrConnDone) {
		t.Errorf("write: %v", err)
	}
	if err := d.Row(t.Context(), "SELECT 1", nil, new(int)); !errors.Is(err, sql.ErrConnDone) {
		t.Errorf("read: %v", err)
	}
	if err := d.EmptyLog(t.Context()); !errors.Is(err, sql.ErrConnDone) {
		t.Errorf("empty the log: %v", err)
	}
	if got := all(t, open(t, path, tables(words))); got != "kept" {
		t.Errorf("the file has %q", got)
	}
}

func TestADatabaseInMemoryIsCopiedFromWhileItIsAttached(t *testing.T) {
	t.Parallel()
	path := file(t)
	d := open(t, path, tables(words))
	mem, err := db.OpenMemory(t.Context(), "attached", tables(words))
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, mem)
	if err := add(t.Context(), mem, "secret"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // it was detached, so it can be attached again
		if err := d.WithAttached(t.Context(), mem, "memory", func() error {
			return d.Write(t.Context(), func(t *db.Tx) error {
				var word string
				if err := t.RowOnce("SELECT word FROM memory.words", nil, &word); err != nil || word != "secret" {
					return fmt.Errorf("read %q: %w", word, err)
				}
				return t.ExecOnce("INSERT OR IGNORE INTO main.words SELECT word || ' copied' FROM memory.words")
			})
		}); err != nil {
			t.Fatal(err)
		}
	}
	if got := all(t, d); got != "secret copied" {
		t.Errorf("the file has %q", got)
	}
	if got := all(t, mem); got != "secret" {
		t.Errorf("the memory has %q", got)
	}
}

// A DELETE distinguishes the connections: those for reading refuse it.
func TestShortReadsOfAStartNeedNoSecondConnection(t *testing.T) {
	t.Parallel()
	d := open(t, file(t), tables(words))
	few := func(query string) (string, error) {
		found, err := db.Few(t.Context(), d, query, nil, func(scan db.Scan) (w string, err error) {
			err = scan(&w)
			return w, err
		})
		return strings.Join(found, " "), err
	}
	for _, w := range []string{"one", "two"} {
		if err := add(t.Context(), d, w); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := few("DELETE FROM words WHERE word = 'one' RETURNING word"); got != "one" || err != nil {
		t.Errorf("with no other connection: %q, %v", got, err)
	}
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec("INSERT INTO words (word) VALUES ('three')"); err != nil {
			return err
		}
		if got, err := few("SELECT word FROM words ORDER BY word"); got != "two" || err != nil {
			t.Errorf("beside a transaction: %q, %v", got, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got, err := few("DELETE FROM words RETURNING word"); err == nil {
		t.Errorf("once a reading connection is open: %q", got)
	}
	if got, err := few("SELECT word FROM words ORDER BY word"); got != "three two" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := few("SELECT word FROM words"); err == nil {
		t.Error("a closed database was read")
	}
}
