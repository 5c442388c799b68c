package search_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"jcode/internal/search"
	"jcode/internal/testkit/treetest"
)

// The size of the benchmarks' tree, small by default. The figures of the budget are measured with
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

// patterns has one pattern for each way of searching.
var patterns = []struct{ name, pattern string }{
	{"literal", treetest.Rare},
	{"common-literal", treetest.Common},
	{"regex", `func \(\w+ \*session\) \w+router`},
	{"alternation", "flushPending|restoreCheckpoint|neverThere"},
	{"ignore-case", "(?i)FLUSHPENDINGCHECKPOINT"},
	{"short-literal", `0x[0-9a-f]{3}7$`},
	{"no-literal", `\b[a-f]{4}[0-9]{3}\b`},
}

func grep(b *testing.B, root *os.Root, pattern string) search.Found {
	b.Helper()
	p, err := search.Compile(pattern, false)
	if err != nil {
		b.Fatal(err)
	}
	found, err := search.Grep{Pattern: p, Limit: 100}.Files(context.Background(), search.Walk{Top: root, Dir: ".", Above: search.Outer(root.Name())})
	if err != nil {
		b.Fatal(err)
	}
	return found
}

func BenchmarkGrep(b *testing.B) {
	root := tree(b)
	for _, p := range patterns {
		b.Run(p.name, func(b *testing.B) {
			b.ReportAllocs()
			total := 0
			for b.Loop() {
				total = grep(b, root, p.pattern).Total
			}
			b.ReportMetric(float64(total), "matches")
		})
	}
}

// BenchmarkGrepAgainstRipgrep runs both in turn, so that other load slows both, and reports the
// ratio of the times.
func BenchmarkGrepAgainstRipgrep(b *testing.B) {
	against(b, "rg")
	root := tree(b)
	for _, p := range patterns {
		b.Run(p.name, func(b *testing.B) {
			inTurn(b, func() { grep(b, root, p.pattern) },
				root.Name(), "rg", "--hidden", "--no-require-git", "--no-messages", "-c", p.pattern, ".")
		})
	}
}

// BenchmarkGlobAgainstFd does the same for finding files by name.
func BenchmarkGlobAgainstFd(b *testing.B) {
	fd := against(b, "fd", "fdfind")
	root := tree(b)
	if err := os.MkdirAll(filepath.Join(root.Name(), ".git"), 0o755); err != nil { // fd has ignore files only in repositories
		b.Fatal(err)
	}
	inTurn(b, func() {
		var n atomic.Int64
		_, err := search.Walk{Top: root, Dir: ".", Above: search.Outer(root.Name())}.Run(context.Background(), func(_ int, f search.File) {
			if doublestar.MatchUnvalidated("**/*.go", f.Path) {
				n.Add(1)
			}
		})
		if err != nil || n.Load() == 0 {
			b.Fatal(n.Load(), err)
		}
	}, root.Name(), fd, "--hidden", "--type", "f", "--glob", "*.go", ".")
}

// against returns the first of some programs that is installed.
func against(b *testing.B, names ...string) string {
	b.Helper()
	for _, n := range names {
		if _, err := exec.LookPath(n); err == nil {
			return n
		}
	}
	b.Skipf("%s is not installed", names[0])
	return ""
}

func inTurn(b *testing.B, ours func(), dir, program string, args ...string) {
	b.Helper()
	var mine, theirs []time.Duration
	for b.Loop() {
		start := time.Now()
		ours()
		mine = append(mine, time.Since(start))
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		start = time.Now()
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) { // no match is exit code 1
			b.Fatal(err)
		}
		theirs = append(theirs, time.Since(start))
	}
	slices.Sort(mine)
	slices.Sort(theirs)
	m, t := mine[len(mine)/2], theirs[len(theirs)/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(m.Milliseconds()), "ours-ms")
	b.ReportMetric(float64(t.Milliseconds()), "theirs-ms")
	b.ReportMetric(float64(m)/float64(t), "ratio")
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
