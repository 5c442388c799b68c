package lsp

import (
	"slices"
	"sync"
)

// maxRead is how many files that the model has read are opened in addition to a change: a server
// may look at open files only.
const maxRead = 20

// touched are the files that calls of the session have read and written. It is safe for concurrent use.
type touched struct {
	mu      sync.Mutex
	read    []string // the newest last
	written map[string]bool
}

func newTouched() *touched { return &touched{written: map[string]bool{}} }

// Read notes that the model has read a file.
func (t *touched) Read(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.read, path); i >= 0 {
		t.read = slices.Delete(t.read, i, i+1)
	}
	if t.read = append(t.read, path); len(t.read) > maxRead {
		t.read = t.read[len(t.read)-maxRead:]
	}
}

// write notes that a call changes files.
func (t *touched) write(paths []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, path := range paths {
		t.written[path] = true
	}
}

// wrote reports whether a call has changed a file.
func (t *touched) wrote(path string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written[path]
}

// recentlyRead returns the files that were read, the newest last.
func (t *touched) recentlyRead() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.read)
}
