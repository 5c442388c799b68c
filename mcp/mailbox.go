package mcp

import "sync"

// mailbox queues work for one goroutine. It is unbounded: put never blocks, so that two owners
// can't wait for each other.
type mailbox struct {
	mu     sync.Mutex
	ready  sync.Cond
	work   []func()
	closed bool
}

func newMailbox() *mailbox {
	b := &mailbox{}
	b.ready.L = &b.mu
	return b
}

// put adds work and reports whether the mailbox is still open.
func (b *mailbox) put(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.work = append(b.work, f)
	b.ready.Signal()
	return true
}

// close adds a last piece of work; later ones are refused.
func (b *mailbox) close(last func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.work = append(b.work, last)
	b.closed = true
	b.ready.Signal()
}

// run does the work until the mailbox is closed and empty.
func (b *mailbox) run() {
	for {
		b.mu.Lock()
		for len(b.work) == 0 && !b.closed {
			b.ready.Wait()
		}
		if len(b.work) == 0 {
			b.mu.Unlock()
			return
		}
		f := b.work[0]
		b.work = b.work[1:]
		b.mu.Unlock()
		f()
	}
}
