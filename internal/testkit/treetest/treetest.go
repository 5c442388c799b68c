// Package treetest creates a folder of source-like files for tests and benchmarks: the same files for the
// same numbers, on any machine, so that nothing large is stored.
//
// It must not know what is done with the folder.
package treetest

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Tree says what is created.
type Tree struct {
	Seed  uint64
	Files int
	// Bytes is the approximate size of all files together.
	Bytes int64
}

// The words in the files, and how often they occur: for searches that must find them.
const (
	// Rare is on one line of every thousandth file.
	Rare = "flushPendingCheckpoint"
	// Common is on about one line in fifty.
	Common = "handler"
)

// Make writes the tree into dir, which must be empty or absent. Sources are up to six folders
// deep; there are .gitignore files, ignored build folders, hidden files and a few binary ones.
func Make(dir string, t Tree) error {
	rng := rand.New(rand.NewPCG(t.Seed, 1))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("build/\n*.log\n!keep.log\n/out\n"), 0o644); err != nil {
		return err
	}
	mean := float64(t.Bytes) / float64(max(t.Files, 1))
	at := dir
	for i := range t.Files {
		if i%20 == 0 {
			at = dir
			for range 1 + rng.IntN(6) {
				at = filepath.Join(at, folders[rng.IntN(len(folders))]+fmt.Sprint(rng.IntN(4)))
			}
			if rng.IntN(15) == 0 {
				at = filepath.Join(at, "build")
			}
			if err := os.MkdirAll(at, 0o755); err != nil {
				return err
			}
		}
		name := fmt.Sprintf("%s_%d%s", words[rng.IntN(len(words))], i, endings[rng.IntN(len(endings))])
		if rng.IntN(100) == 0 {
			name = "." + name
		}
		// Most files are small, a few are ten times the mean.
		size := int64(mean * rng.ExpFloat64())
		if err := write(filepath.Join(at, name), rng, size, i); err != nil {
			return err
		}
	}
	return nil
}

// write makes one file.
func write(path string, rng *rand.Rand, size int64, number int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	w := bufio.NewWriterSize(f, 64<<10)
	if number%500 == 499 {
		_, _ = w.Write([]byte{0x7f, 'B', 'I', 'N', 0, 0, 1}) // Flush reports a failed write
	}
	if number%1000 == 7 {
		_, _ = fmt.Fprintf(w, "// %s is here\n", Rare)
	}
	for written := int64(0); written < size; {
		n, _ := w.WriteString(line(rng))
		written += int64(n)
	}
	return w.Flush()
}

// line makes a line of source-like text.
func line(rng *rand.Rand) string {
	indent := "\t\t\t"[:rng.IntN(4)]
	a, b, c := words[rng.IntN(len(words))], words[rng.IntN(len(words))], words[rng.IntN(len(words))]
	switch rng.IntN(6) {
	case 0:
		return fmt.Sprintf("%sif %s.%s(%d) != nil {\n", indent, a, b, rng.IntN(1000))
	case 1:
		return fmt.Sprintf("%sreturn %s, fmt.Errorf(\"%s %s: %%w\", err)\n", indent, a, b, c)
	case 2:
		return fmt.Sprintf("%s// %s the %s before the %s is %s.\n", indent, a, b, c, words[rng.IntN(len(words))])
	case 3:
		return "\n"
	case 4:
		return fmt.Sprintf("%s%s := %s[%q] + 0x%04x\n", indent, a, b, c, rng.IntN(1<<16))
	}
	return fmt.Sprintf("%sfunc (%c *%s) %s%s(ctx context.Context) error {\n", indent, a[0], a, b, c)
}

var (
	folders = []string{"cmd", "internal", "pkg", "server", "client", "store", "web", "docs", "util", "api"}
	endings = []string{".go", ".go", ".go", ".ts", ".py", ".md", ".json", ".log"}
	words   = []string{
		"request", "response", "buffer", "session", "user", "index", "count", "result", "value", "config", "option", "error", "message",
		"stream", "reader", "writer", "parser", "token", "node", "tree", "path", "file", "folder", "cache", "queue", "worker", "task",
		"event", "signal", "state", "store", "record", "field", "name", "key", "size", "limit", "offset", "start", "finish", "open",
		"close", "update", "remove", "insert", "select", "filter", "reduce", "collect", "merge", "split", "join", "encode", "decode",
		"compress", "render", "layout", "window", "cursor", "screen", "color", "style", "theme", "Handler", Common, "router", "client",
		"server", "proxy", "socket", "timeout", "retry", "backoff", "deadline", "context", "logger", "metric", "trace", "span",
	}
)
