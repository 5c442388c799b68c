package lsp

import (
	"fmt"
	"slices"
	"testing"
)

func TestTouchedKeepsWhatWasReadLast(t *testing.T) {
	files := newTouched()
	for i := range maxRead + 5 {
		files.Read(fmt.Sprint(i))
	}
	files.Read("7") // again: it is the newest now
	got := files.recentlyRead()
	if len(got) != maxRead || got[0] != "5" || got[len(got)-1] != "7" || slices.Contains(got[:len(got)-1], "7") {
		t.Errorf("kept %v", got)
	}
	files.write([]string{"a", "b"})
	for path, want := range map[string]bool{"a": true, "b": true, "7": false} {
		if files.wrote(path) != want {
			t.Errorf("wrote(%s) = %v", path, !want)
		}
	}
}

func TestSurroundingsShowPathsAsTheModelSaysThem(t *testing.T) {
	around := &surroundings{root: "/p", start: "/p/sub", roots: []string{"/p", "/other"}}
	for path, want := range map[string]string{
		"/p/sub/a.go":  "a.go",
		"/p/b.go":      "../b.go",
		"/other/c.go":  "/other/c.go",
		"/elsewhere/d": "/elsewhere/d",
	} {
		if got := around.shown(path); got != want {
			t.Errorf("%s is shown as %s, want %s", path, got, want)
		}
	}
}
