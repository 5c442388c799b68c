package tidy_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"jcode/internal/tidy"
)

func TestOldFilesAndTheOldestBeyondTheSizeGo(t *testing.T) {
	dir := t.TempDir()
	for name, days := range map[string]int{"new": 0, "two": 2, "three": 3, "four": 4, "old": 9} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().AddDate(0, 0, -days)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	left := func() []string {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	tidy.Folder(dir, tidy.Limits{Age: 7 * 24 * time.Hour})
	if got := left(); !slices.Equal(got, []string{"folder", "four", "new", "three", "two"}) {
		t.Errorf("after a week there are %v", got)
	}
	tidy.Folder(dir, tidy.Limits{Age: 7 * 24 * time.Hour, Bytes: 250})
	if got := left(); !slices.Equal(got, []string{"folder", "new", "two"}) {
		t.Errorf("of 250 bytes there are %v", got)
	}
	tidy.Folder(filepath.Join(dir, "none"), tidy.Limits{})
}
