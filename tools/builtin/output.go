package builtin

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// output stores everything that a command prints: in a file, or in memory if nothing may be written
// to disk.
type output interface {
	io.Writer
	io.ReaderAt
	// Name is the file's name; "" for memory.
	Name() string
	Close() error
}

// maxMemory is the size of an output that is kept in memory, in bytes.
const maxMemory = 16 << 20

// memoryOutput is an output in memory. It can be read after Close.
type memoryOutput struct {
	mu sync.Mutex
	b  []byte
}

func (*memoryOutput) Name() string { return "" }
func (*memoryOutput) Close() error { return nil }

func (m *memoryOutput) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.b = append(m.b, p...)
	return len(p), nil
}

func (m *memoryOutput) ReadAt(p []byte, at int64) (int, error) {
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

func (m *memoryOutput) size() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(len(m.b))
}

// since reads output from a position, at most maxExecText bytes of it.
func (s snapshot) since(from int64) (out string, end int64, err error) {
	if s.memory != nil {
		return readSince(s.memory, s.memory.size(), "was not kept", from)
	}
	f, err := os.Open(s.log)
	if err != nil {
		return "", from, fmt.Errorf("read output: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return "", from, fmt.Errorf("read output: %w", err)
	}
	return readSince(f, info.Size(), "is in "+s.log, from)
}
