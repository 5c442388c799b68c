package notes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkIndexAtStart reads 200 notes of 20 topics, as a new process does: the budget is 2 ms.
func BenchmarkIndexAtStart(b *testing.B) {
	dir, root := b.TempDir(), b.TempDir()
	folder := openIn(dir, root).Folder(Project)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		b.Fatal(err)
	}
	for i := range 20 {
		var s strings.Builder
		for j := range 10 {
			fmt.Fprintf(&s, "- Note %d of topic %d says how something is done in this project.\n  *since 2026-11-01 · by agent · session 01a228fb-5eb7-7416-8e91-8ef4bb9fcb36#%d*\n", j, i, j)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint("topic", i, ".md")), []byte(s.String()), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if index := openIn(dir, root).Index(); len(index.Notes) == 0 {
			b.Fatal("no notes")
		}
	}
}
