package builtin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"sync"
	"time"
)

const (
	indexChunk = 4 << 20  // bytes between two marks of an index
	indexFiles = 8        // files whose index is kept
	keepLine   = 64 << 10 // bytes of one line that are held
)

// lineIndexes stores, for a few large files, the number of lines before every few MiB, as far as the
// file was read, so that a later window is found without counting again.
type lineIndexes struct {
	chunk int64 // bytes between two marks
	mu    sync.Mutex
	files []*lineIndex // the latest used last
}

// lineIndex is the index of one file at a point in time.
type lineIndex struct {
	mu    sync.Mutex
	chunk int64
	path  string
	size  int64
	mod   time.Time
	lines []int // line breaks in chunks 0 to i, all together
}

func newLineIndexes() *lineIndexes { return &lineIndexes{chunk: indexChunk} }

// of returns the index of a file, a new one if the file has changed.
func (x *lineIndexes) of(path string, info fs.FileInfo) *lineIndex {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, f := range x.files {
		if f.path != path {
			continue
		}
		x.files = append(x.files[:i], x.files[i+1:]...)
		if f.size == info.Size() && f.mod.Equal(info.ModTime()) {
			x.files = append(x.files, f)
			return f
		}
		break
	}
	f := &lineIndex{chunk: x.chunk, path: path, size: info.Size(), mod: info.ModTime()}
	x.files = append(x.files, f)
	if len(x.files) > indexFiles {
		x.files = x.files[1:]
	}
	return f
}

// seek returns the offset at which a line begins, and its number. For a line after the end it
// returns the end and the number that a line there would have. It counts no further than
// necessary.
func (x *lineIndexes) seek(ctx context.Context, file io.ReaderAt, info fs.FileInfo, path string, first int) (at int64, line int, err error) {
	f := x.of(path, info)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.count(ctx, file, first); err != nil {
		return 0, 0, err
	}
	// There are n-1 line breaks before line n.
	chunk := 0
	for chunk < len(f.lines) && f.lines[chunk] < first-1 {
		chunk++
	}
	breaks := 0
	if chunk > 0 {
		breaks = f.lines[chunk-1]
	}
	at = int64(chunk) * f.chunk
	return f.lineStart(file, at, breaks+1, first)
}

// lineStart searches from the start of a chunk, which is in line `line`, for the start of line
// `first`.
func (f *lineIndex) lineStart(file io.ReaderAt, at int64, line, first int) (int64, int, error) {
	buf := make([]byte, 256<<10)
	for line < first {
		n, err := file.ReadAt(buf, at)
		rest := buf[:n]
		for line < first {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				break
			}
			rest = rest[i+1:]
			line++
		}
		at += int64(n - len(rest))
		if line >= first {
			return at, line, nil
		}
		at += int64(len(rest))
		if errors.Is(err, io.EOF) {
			// After the end: only the number of the last line matters.
			if !f.endsWithBreak(file) {
				line++
			}
			return at, line, nil
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return at, line, nil
}

func (f *lineIndex) endsWithBreak(file io.ReaderAt) bool {
	var last [1]byte
	n, _ := file.ReadAt(last[:], f.size-1) // what can't be read has no break
	return n == 1 && last[0] == '\n'
}

// count extends the index until it covers the line breaks before a line, with as many readers as
// there are cores.
func (f *lineIndex) count(ctx context.Context, file io.ReaderAt, line int) error {
	chunks := int((f.size + f.chunk - 1) / f.chunk)
	workers := runtime.GOMAXPROCS(0)
	bufs := make([][]byte, workers)
	for line > 1 && len(f.lines) < chunks && (len(f.lines) == 0 || f.lines[len(f.lines)-1] < line-1) {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch := min(4*workers, chunks-len(f.lines))
		found, errs := make([]int, batch), make([]error, batch)
		var wg sync.WaitGroup
		for w := range min(workers, batch) {
			wg.Go(func() {
				if bufs[w] == nil {
					bufs[w] = make([]byte, 256<<10)
				}
				for i := w; i < batch; i += workers {
					at := int64(len(f.lines)+i) * f.chunk
					found[i], errs[i] = countBreaks(file, at, at+f.chunk, bufs[w])
				}
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		total := 0
		if n := len(f.lines); n > 0 {
			total = f.lines[n-1]
		}
		for _, n := range found {
			total += n
			f.lines = append(f.lines, total)
		}
	}
	return nil
}

// countBreaks counts the line breaks from one offset to another.
func countBreaks(file io.ReaderAt, at, end int64, buf []byte) (int, error) {
	total := 0
	for at < end {
		n, err := file.ReadAt(buf[:min(int64(len(buf)), end-at)], at)
		total += bytes.Count(buf[:n], []byte{'\n'})
		at += int64(n)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return total, nil
}
