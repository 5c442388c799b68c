package db_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"jcode/session/db"
)

func TestAnOlderFileIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	path := file(t)
	d, err := db.Open(t.Context(), path, db.Options{Schema: tables(words)})
	if err != nil {
		t.Fatal(err)
	}
	if err := add(t.Context(), d, "kept"); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing to do
		d = open(t, path, tables(words, "ALTER TABLE words ADD COLUMN length INTEGER", "UPDATE words SET length = length(word)"))
		var length int
		if err := d.Row(t.Context(), "SELECT length FROM words WHERE word = 'kept'", nil, &length); err != nil || length != 4 {
			t.Errorf("length %d, %v", length, err)
		}
	}
}

func TestFailedMigrationLeavesTheFileAsItWas(t *testing.T) {
	t.Parallel()
	path := file(t)
	d := open(t, path, tables(words))
	if err := add(t.Context(), d, "kept"); err != nil {
		t.Fatal(err)
	}
	_, err := db.Open(t.Context(), path, db.Options{Schema: tables(words, "DELETE FROM words", "no such statement")})
	if err == nil || !strings.Contains(err.Error(), "0003_step.sql") {
		t.Errorf("got %v", err)
	}
	var version int
	if err := d.Row(t.Context(), "SELECT user_version FROM pragma_user_version", nil, &version); err != nil || version != 1 {
		t.Errorf("version %d, %v", version, err)
	}
	if got := all(t, open(t, path, tables(words))); got != "kept" {
		t.Errorf("the file has %q", got)
	}
}

func TestStepsAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	for _, second := range []string{"0003_gap.sql", "0001_twice.sql", "later_none.sql"} {
		schema := db.Schema{Files: fstest.MapFS{"0001_init.sql": {Data: []byte(words)}, second: {Data: []byte("SELECT 1")}}, ApplicationID: appID}
		if _, err := db.Open(t.Context(), file(t), db.Options{Schema: schema}); err == nil || !strings.Contains(err.Error(), "migration") {
			t.Errorf("%s: %v", second, err)
		}
	}
}
