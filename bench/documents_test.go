//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkTerminalIndexing measures the time from a key press to the screen that shows it while
// 50 MB of Markdown are indexed in the background. Goal: median ≤ 4 ms.
func BenchmarkTerminalIndexing(b *testing.B) {
	p, f := newProgram(b, hello), samples{}
	docs := filepath.Join(p.project, "docs")
	if err := os.Mkdir(docs, 0o755); err != nil {
		b.Fatal(err)
	}
	var page strings.Builder
	for i := range 200 {
		fmt.Fprintf(&page, "## Part %d\n\n%s\n\n", i, strings.Repeat(fmt.Sprintf("Of part %d much can be said in words. ", i), 60))
	}
	for i := range 50 << 20 / page.Len() {
		if err := os.WriteFile(filepath.Join(docs, fmt.Sprintf("page-%d.md", i)), fmt.Appendf(nil, "# Page %d\n\n%s", i, page.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		p.home = b.TempDir()
		term := p.open(samples{})
		p.type1(term, "/docs add docs/*.md", "/docs add docs/*.md")
		term.Press("enter")
		const working = "reading the documents of this session"
		if _, err := term.WaitFor(patience, working); err != nil {
			b.Fatal(err)
		}
		typed := "key"
		p.type1(term, typed, typed)
		var took []time.Duration
		for range 2 {
			for _, c := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
				typed += c
				took = append(took, p.type1(term, c, typed))
				time.Sleep(5 * time.Millisecond) // as a fast typist; the indexing continues
			}
			term.Press("ctrl+u")
			typed = "key"
			p.type1(term, typed, typed)
		}
		if !term.Screen().Contains(working) {
			b.Fatal("the documents are indexed already")
		}
		slices.Sort(took)
		f.add("median-ms", ms(took[len(took)/2]))
		f.add("worst-ms", ms(took[len(took)-1]))
		term.Close()
	}
	f.report(b)
}
