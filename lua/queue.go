package lua

import "sync"

// queue runs functions one after another.
type queue struct {
	mu     sync.Mutex
	change sync.Cond
	list   []func()
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.change.L = &q.mu
	return q
}

// add appends f, unless the queue is closed.
func (q *queue) add(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.list = append(q.list, f)
		q.change.Signal()
	}
}

// close discards waiting functions and ends run.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.list = true, nil
	q.change.Signal()
}

// run runs the functions until the queue is closed.
func (q *queue) run() {
	for f := q.next(); f != nil; f = q.next() {
		f()
	}
}

// next waits for a function and takes it; nil says that the queue is closed.
func (q *queue) next() func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) == 0 && !q.closed {
		q.change.Wait()
	}
	if q.closed {
		return nil
	}
	f := q.list[0]
	q.list = q.list[1:]
	return f
}
