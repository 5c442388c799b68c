package host

import (
	"errors"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"jcode/lua/wire"
)

// checkEvery is the number of instructions between two checks of cancel and heap.
const checkEvery = 1024

// The reasons for which a meter stops a script.
var (
	errInstructions = errors.New("instruction limit reached")
	errMemory       = errors.New("memory limit reached")
	errCancelled    = errors.New("cancelled")
)

// meter is the context of a Lua state. The VM calls Done once per instruction, which is how it
// counts them. It is not an ordinary context: host functions must never wait on Done.
type meter struct {
	count, next, limit int64
	heapLimit          uint64
	cancel             atomic.Bool
	stopped            error // set once, until the next reset
	tainted            bool  // a limit or a panic ended something halfway: the process is used no more
	closed             chan struct{}
	sample             []metrics.Sample
}

func newMeter() *meter {
	m := &meter{closed: make(chan struct{}), sample: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}}
	close(m.closed)
	m.reset(wire.Limits{})
	return m
}

// reset starts a fresh budget.
func (m *meter) reset(l wire.Limits) {
	m.count, m.next, m.limit = 0, checkEvery, l.Instructions
	m.stopped = nil
	m.heapLimit = 0
	if l.Heap > 0 {
		m.heapLimit = m.heap() + uint64(l.Heap)
	}
}

func (m *meter) heap() uint64 {
	metrics.Read(m.sample)
	return m.sample[0].Value.Uint64()
}

// Done is called by the VM before each instruction.
func (m *meter) Done() <-chan struct{} {
	m.count++
	if m.count < m.next {
		return nil
	}
	return m.check()
}

func (m *meter) check() <-chan struct{} {
	if m.stopped != nil {
		return m.closed
	}
	switch {
	case m.cancel.Load():
		return m.stop(errCancelled)
	case m.limit > 0 && m.count >= m.limit:
		return m.stop(errInstructions)
	case m.heapLimit > 0 && m.heap() > m.heapLimit:
		runtime.GC()
		if m.heap() > m.heapLimit {
			return m.stop(errMemory)
		}
	}
	m.next = m.count + checkEvery
	if m.limit > 0 {
		m.next = min(m.next, m.limit)
	}
	return nil
}

// stop ends the script: every further instruction fails too.
func (m *meter) stop(why error) <-chan struct{} {
	m.stopped = why
	m.next = 0
	return m.closed
}

// Err returns the reason that the VM raises.
func (m *meter) Err() error {
	if m.stopped != nil {
		return m.stopped
	}
	return errCancelled
}

// Deadline and Value complete the context interface.
func (*meter) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value holds nothing.
func (*meter) Value(any) any { return nil }
