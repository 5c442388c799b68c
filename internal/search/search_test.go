package search_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"jcode/internal/search"
	"jcode/internal/treetest"
)

// The benchmarks' tree: small by default. The figures of the budget are made with
//
//	go test ./internal/search -bench . -run xxx -tree.files 50000 -tree.bytes 1000000000 -tree.dir /some/folder
var (
	treeFiles = flag.Int("tree.files", 2000, "files of the tree that the benchmarks search")
	treeBytes = flag.Int64("tree.bytes", 40<<20, "bytes of that tree")
	treeDir   = flag.String("tree.dir", "", "where the tree is kept between runs; else it is made anew")
)

func tree(b *testing.B) *os.Root {
	b.Helper()
	dir := *treeDir
	if dir == "" {
		dir = filepath.Join(b.TempDir(), "tree")
	}
	if _, err := os.Stat(dir); err != nil {
		if err := treetest.Make(dir, treetest.Tree{Seed: 1, Files: *treeFiles, Bytes: *treeBytes}); err != nil {
			b.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = root.Close() })
	return root
}

func BenchmarkGrep(b *testing.B) {
	root := tree(b)
	for name, pattern := range map[string]string{
		"literal":        treetest.Rare,
		"common-literal": "handler",
		"regex":          `func \(\w+ \*session\) \w+router`,
		"alternation":    "flushPending|restoreCheckpoint|neverThere",
		"ignore-case":    "(?i)FLUSHPENDINGCHECKPOINT",
		"no-literal":     `\b[a-f]{4}[0-9]{3}\b`,
		"class":          `0x[0-9a-f]{4}\n?$`,
	} {
		if name == "class" {
			pattern = `0x[0-9a-f]{3}7$`
		}
		b.Run(name, func(b *testing.B) {
			p, err := search.Compile(pattern, false)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				found, err := search.Grep{Pattern: p, Limit: 100}.Files(context.Background(), search.Walk{Top: root, Dir: "."})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(found.Total), "matches")
			}
		})
	}
}

func BenchmarkWalk(b *testing.B) {
	root := tree(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (search.Walk{Top: root, Dir: "."}).Run(context.Background(), func(int, search.File) {}); err != nil {
			b.Fatal(err)
		}
	}
}
