package capture

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"jcode/internal/text"
)

// Output stores everything that a command prints: in a file, or in memory if nothing may be written
// to disk.
type Output interface {
	io.Writer
	io.ReaderAt
	// Name is the file's name; "" for memory.
	Name() string
	Close() error
}

// maxMemory is the size of an output that is kept in memory, in bytes.
const maxMemory = 16 << 20

// Memory is an output in memory. It can be read after Close.
type Memory struct {
	mu sync.Mutex
	b  []byte
}

func (*Memory) Name() string { return "" }
func (*Memory) Close() error { return nil }

func (m *Memory) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.b = append(m.b, p...)
	return len(p), nil
}

func (m *Memory) ReadAt(p []byte, at int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at >= int64(len(m.b)) {
		return 0, io.EOF
	}
	n := copy(p, m.b[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *Memory) size() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(len(m.b))
}

// Since reads output from a position, at most limit bytes of it.
func (s Snapshot) Since(from int64, limit int) (out string, end int64, err error) {
	if s.memory != nil {
		return readSince(s.memory, s.memory.size(), "was not kept", from, limit)
	}
	f, err := os.Open(s.Log)
	if err != nil {
		return "", from, fmt.Errorf("read output: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return "", from, fmt.Errorf("read output: %w", err)
	}
	return readSince(f, info.Size(), "is in "+s.Log, from, limit)
}

// Stored reports whether the whole can be read.
func (s Snapshot) Stored() bool { return s.Log != "" || s.memory != nil }

// readSince reads output up to end from a position, at most limit bytes. whole says where the
// whole output is.
func readSince(f io.ReaderAt, end int64, whole string, from int64, limit int) (out string, at int64, err error) {
	size := end - from
	if size <= int64(limit) {
		buf := make([]byte, size)
		n, err := f.ReadAt(buf, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", from, fmt.Errorf("read output: %w", err)
		}
		return text.Valid(string(buf[:n])), end, nil
	}
	half := make([]byte, limit/2)
	if _, err := f.ReadAt(half, from); err != nil {
		return "", from, fmt.Errorf("read output: %w", err)
	}
	head := text.Cut(text.Valid(string(half)), limit/2)
	if _, err := f.ReadAt(half, end-int64(len(half))); err != nil {
		return "", from, fmt.Errorf("read output: %w", err)
	}
	tail := text.CutTail(text.Valid(string(half)), limit/2)
	return head + fmt.Sprintf("\n[… %d of %d new bytes left out here; the whole %s …]\n", size-int64(limit/2*2), size, whole) + tail, end, nil
}
