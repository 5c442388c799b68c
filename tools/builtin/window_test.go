package builtin

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// sized is the part of fs.FileInfo that an index uses.
type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64        { return s.size }
func (s sized) ModTime() time.Time { return time.Time{} }

// streamed reads a window as from a large file, with marks every few bytes.
func streamed(x *lineIndexes, data string, first, limit int) (window, error) {
	at, line, err := x.seek(context.Background(), strings.NewReader(data), sized{size: int64(len(data))}, "f", first)
	if err != nil {
		return window{}, err
	}
	w := window{first: first, limit: limit, next: line, keepRaw: true, total: -1}
	r := io.NewSectionReader(strings.NewReader(data), at, int64(len(data))-at)
	return w, w.scan(context.Background(), r)
}

func FuzzWindowsOfLargeFilesAreThoseOfSmallOnes(f *testing.F) {
	f.Add("a\nb\nc\n", 2, 1)
	f.Add("a\nb", 2, 5)
	f.Add("\n\n\n", 3, 1)
	f.Add("no end", 9, 9)
	f.Fuzz(checkWindow)
}

func TestRandomWindowsOfLargeFiles(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 5))
	for range 300 {
		data := make([]byte, rng.IntN(80))
		for i := range data {
			data[i] = "ab\n"[rng.IntN(3)]
		}
		checkWindow(t, string(data), rng.IntN(40), rng.IntN(10))
	}
}

func checkWindow(t *testing.T, data string, first, limit int) {
	if data == "" || len(data) > 4000 {
		return
	}
	first, limit = 1+abs(first)%50, 1+abs(limit)%50
	lines := strings.SplitAfter(data, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	want := ""
	if first <= len(lines) {
		want = strings.Join(lines[first-1:min(len(lines), first-1+limit)], "")
	}
	for _, chunk := range []int64{3, 16, 1 << 10} {
		x := &lineIndexes{chunk: chunk}
		for range 2 { // the second time with an index
			w, err := streamed(x, data, first, limit)
			if err != nil {
				t.Fatal(err)
			}
			if w.raw.String() != want {
				t.Fatalf("chunk %d, lines %d+%d of %q: %q, want %q", chunk, first, limit, data, w.raw.String(), want)
			}
			if w.total >= 0 && w.total != len(lines) {
				t.Fatalf("chunk %d, lines %d+%d of %q: %d lines in all, want %d", chunk, first, limit, data, w.total, len(lines))
			}
			if want == "" && w.total < 0 {
				t.Fatalf("behind the end of %q the total is not known", data)
			}
		}
	}
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}

func FuzzCutLineIsBoundedAndWhole(f *testing.F) {
	f.Add(strings.Repeat("é", 2100))
	f.Add("short")
	f.Fuzz(func(t *testing.T, line string) {
		out, cut := cutLine(line, len(line))
		if !cut && out != line || len(out) > 4*readLine+60 {
			t.Fatalf("%d bytes became %d, cut %v", len(line), len(out), cut)
		}
		if utf8.ValidString(line) && !utf8.ValidString(out) {
			t.Fatal("a rune was cut")
		}
		if cut != (utf8.RuneCountInString(line) > readLine) {
			t.Fatalf("cut is %v at %d characters", cut, utf8.RuneCountInString(line))
		}
	})
}

func TestWindowOfOneEndlessLineIsBounded(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("x"), 9<<20)
	w := window{first: 1, limit: 10, keepRaw: true, total: -1}
	if err := w.scan(context.Background(), bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	if w.count != 1 || w.shown.Len() > 3000 || w.raw.Len() > keepLine || w.total != 1 {
		t.Errorf("%d lines, %d bytes shown, %d kept, %d in all", w.count, w.shown.Len(), w.raw.Len(), w.total)
	}
	if want := fmt.Sprintf("it has %d bytes", len(data)); !strings.Contains(w.shown.String(), want) {
		t.Errorf("lacks %q", want)
	}
}
