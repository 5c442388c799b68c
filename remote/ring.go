package remote

import (
	"context"
	"sync"
)

// The bounds of a ring: how far back a client that lost its connection can go on.
const (
	maxLines = 10_000
	maxBytes = 16 << 20
)

// ring holds the last lines of a session by number. Readers go at their own pace.
type ring struct {
	mu      sync.Mutex
	lines   [][]byte // those numbered first, first+1, …; nil for an event without a form
	first   uint64
	bytes   int
	closed  bool
	changed chan struct{} // closed and replaced when something comes
}

// newRing returns a ring whose first line will be the one after last.
func newRing(last uint64) *ring {
	return &ring{first: last + 1, changed: make(chan struct{})}
}

// add appends the line with the next number.
func (r *ring) add(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
	r.bytes += len(line)
	for len(r.lines) > maxLines || r.bytes > maxBytes && len(r.lines) > 1 {
		r.bytes -= len(r.lines[0])
		r.lines[0] = nil
		r.lines = r.lines[1:]
		r.first++
	}
	r.signal()
}

func (r *ring) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.signal()
}

func (r *ring) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// signal wakes all readers. The caller holds the lock.
func (r *ring) signal() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// reach waits until the line with a number is there: whoever adds lines may be behind those who know the number.
func (r *ring) reach(ctx context.Context, n uint64) error {
	for {
		r.mu.Lock()
		there, more := r.closed || n < r.first+uint64(len(r.lines)), r.changed
		r.mu.Unlock()
		if there {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// after returns what follows a number. ok is false if some of it is gone, or was never there; more is closed when
// something comes; closed says that nothing will.
func (r *ring) after(n uint64) (lines [][]byte, ok bool, more <-chan struct{}, closed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := n + 1
	if next < r.first || next > r.first+uint64(len(r.lines)) {
		return nil, false, nil, r.closed
	}
	return r.lines[next-r.first:], true, r.changed, r.closed
}
