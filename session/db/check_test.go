package db_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"jcode/session/db"
)

// Damage in the middle of a file that still opens is found.
func TestDamageInsideTheFileIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	opts := db.Options{Schema: db.Schema{ApplicationID: 7, Files: fstest.MapFS{"0001_a.sql": {Data: []byte(
		"CREATE TABLE a (n INTEGER PRIMARY KEY, text TEXT); WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2000) INSERT INTO a SELECT n, printf('%0100d', n) FROM c")}}}}
	open := func() *db.DB {
		t.Helper()
		d, err := db.Open(t.Context(), path, opts)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := open()
	if faults, err := d.Check(t.Context()); err != nil || len(faults) > 0 {
		t.Errorf("a sound file: %q, %v", faults, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4096 { // a page of rows
		data[len(data)/2/4096*4096+i] = 0xff
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	d = open()
	defer func() { _ = d.Close() }() // it was read only
	if faults, err := d.Check(t.Context()); err != nil || len(faults) == 0 {
		t.Errorf("a damaged file: %q, %v", faults, err)
	}
}
