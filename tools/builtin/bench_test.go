package builtin_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/tools"
	"jcode/tools/builtin"
)

// The size of the benchmarks' large file, 64 MiB by default. The figure in the budget is measured with
//
//	go test ./tools/builtin -run xxx -bench Window -file.bytes 1073741824
var fileBytes = flag.Int64("file.bytes", 64<<20, "bytes of the file that windows are read from")

// byName returns the file tools of a workspace in dir, by name.
func byName(b *testing.B, dir string) map[string]tools.Tool {
	b.Helper()
	ws, err := builtin.OpenWorkspace(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ws.Close() })
	out := map[string]tools.Tool{}
	for _, t := range fileTools(ws, builtin.Options{}) {
		out[t.Spec().Name] = t
	}
	return out
}

func run(b *testing.B, t tools.Tool, a args) {
	b.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		b.Fatal(err)
	}
	call := tools.Call{Name: t.Spec().Name, Arguments: raw, Progress: func(tools.Progress) {}}
	plan, err := t.(tools.Planner).Plan(context.Background(), call)
	if err != nil {
		b.Fatal(err)
	}
	call.Plan = plan
	if _, err := t.Run(context.Background(), call); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkReadWindowOfALargeFile(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "log")
	lines := largeFile(b, path, *fileBytes)
	for _, where := range []struct {
		name   string
		offset int
		fresh  bool
	}{
		{"start", 1, false},
		{"end-first-time", lines - 2000, true},
		{"end-again", lines - 2000, false},
	} {
		b.Run(where.name, func(b *testing.B) {
			read := byName(b, dir)["read"]
			if !where.fresh {
				run(b, read, args{"path": "log", "offset": where.offset})
			}
			b.ReportAllocs()
			for b.Loop() {
				if where.fresh {
					read = byName(b, dir)["read"]
				}
				run(b, read, args{"path": "log", "offset": where.offset})
			}
		})
	}
}

// largeFile writes the lines of a log and returns their number.
func largeFile(b *testing.B, path string, size int64) (lines int) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	var chunk strings.Builder
	for written := int64(0); written < size; {
		chunk.Reset()
		for range 10_000 {
			lines++
			fmt.Fprintf(&chunk, "2026-01-02T03:04:05Z worker %d finished request %09d without a fault\n", lines%16, lines)
		}
		n, err := f.WriteString(chunk.String())
		if err != nil {
			b.Fatal(err)
		}
		written += int64(n)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return lines
}

func BenchmarkReadSmallFile(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.go"), []byte(strings.Repeat("some line of source\n", 200)), 0o644); err != nil {
		b.Fatal(err)
	}
	read := byName(b, dir)["read"]
	b.ReportAllocs()
	for b.Loop() {
		run(b, read, args{"path": "f.go"})
	}
}

func BenchmarkEditSmallFile(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.go"), []byte(strings.Repeat("some line of source\n", 200)+"state a\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	edit := byName(b, dir)["edit"]
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		from, to := "state a", "state b"
		if i%2 == 1 {
			from, to = to, from
		}
		run(b, edit, args{"path": "f.go", "old_string": from, "new_string": to})
	}
}
