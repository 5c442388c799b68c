package db_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"jcode/session/db"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedFileIsMovedAside(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"random":       strings.Repeat("\x93\x01\xfe random ", 10)[:100],
		"big":          strings.Repeat("not a database at all\n", 1000),
		"header only":  "SQLite format 3\x00",
		"header, junk": "SQLite format 3\x00\x10\x00\x02\x02\x00\x40\x20\x20" + strings.Repeat("\xff", 8192),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "jcode.db")
			write(t, path, content)
			write(t, path+"-wal", "old log")
			d := open(t, path, tables(words))
			if len(d.Notices()) != 1 || !strings.Contains(d.Notices()[0].Text, "damaged") {
				t.Fatalf("notices %v", d.Notices())
			}
			if err := add(t.Context(), d, "works"); err != nil {
				t.Error(err)
			}
			aside, _ := filepath.Glob(path + ".damaged-*")
			if len(aside) != 2 {
				t.Fatalf("moved aside: %v", aside)
			}
			if b, err := os.ReadFile(aside[0]); err != nil || string(b) != content {
				t.Errorf("%s holds %d bytes, %v", aside[0], len(b), err)
			}
			if !strings.Contains(d.Notices()[0].Text, aside[0]) || aside[1] != aside[0]+"-wal" {
				t.Errorf("%v, %v", d.Notices(), aside)
			}
		})
	}
}

func TestEmptyFileIsANewOne(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jcode.db")
	write(t, path, "")
	d := open(t, path, tables(words))
	if len(d.Notices()) > 0 {
		t.Error(d.Notices())
	}
	if err := add(t.Context(), d, "works"); err != nil {
		t.Error(err)
	}
}

func TestNewerFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jcode.db")
	d, err := db.Open(t.Context(), path, db.Options{Schema: tables(words)})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	raw(t, path, "PRAGMA user_version = 99")
	_, err = db.Open(t.Context(), path, db.Options{Schema: tables(words)})
	var newer *db.NewerError
	if !errors.As(err, &newer) || newer.Found != 99 || !strings.Contains(err.Error(), "newer jcode") {
		t.Fatalf("got %v", err)
	}
	if aside, _ := filepath.Glob(path + ".damaged-*"); len(aside) > 0 {
		t.Error("it was moved aside")
	}
}

func TestForeignDatabaseIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jcode.db")
	raw(t, path, "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
	if _, err := db.Open(t.Context(), path, db.Options{Schema: tables(words)}); !errors.Is(err, db.ErrForeign) {
		t.Errorf("got %v", err)
	}
}

func TestReadOnlyFileIsSaid(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jcode.db")
	d, err := db.Open(t.Context(), path, db.Options{Schema: tables(words)})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Open(t.Context(), path, db.Options{Schema: tables(words)}); !errors.Is(err, db.ErrReadOnly) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if _, err := db.Open(t.Context(), t.TempDir(), db.Options{Schema: tables(words)}); err == nil {
		t.Error("a folder was opened")
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	dir := filepath.Join(t.TempDir(), "data")
	path := filepath.Join(dir, "jcode.db")
	d := open(t, path, tables(words))
	if err := add(t.Context(), d, "works"); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < 3 {
		t.Fatal(entries, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder has mode %v, %v", info.Mode(), err)
	}
}
