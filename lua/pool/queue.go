package pool

import (
	"context"
	"sync"
)

// Queue runs functions one after another.
type Queue struct {
	mu    sync.Mutex
	list  []func()
	wake  chan struct{}
	ended chan struct{}
	done  bool
}

// Channels returns the channel that wakes the queue and the one that is closed at its end.
func (q *Queue) Channels() (wake, ended chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.wake == nil {
		q.wake, q.ended = make(chan struct{}, 1), make(chan struct{})
	}
	return q.wake, q.ended
}

// Add appends f.
func (q *Queue) Add(f func()) {
	wake, _ := q.Channels()
	q.mu.Lock()
	if !q.done {
		q.list = append(q.list, f)
	}
	q.mu.Unlock()
	select {
	case wake <- struct{}{}:
	default:
	}
}

// Close discards waiting functions and ends the queue.
func (q *Queue) Close() {
	wake, _ := q.Channels()
	q.mu.Lock()
	q.done, q.list = true, nil
	q.mu.Unlock()
	select {
	case wake <- struct{}{}:
	default:
	}
}

// Run runs the functions until the queue is closed or ctx ends.
func (q *Queue) Run(ctx context.Context) {
	wake, ended := q.Channels()
	defer close(ended)
	for {
		q.mu.Lock()
		var f func()
		if len(q.list) > 0 {
			f, q.list = q.list[0], q.list[1:]
		}
		done := q.done
		q.mu.Unlock()
		switch {
		case f != nil:
			f()
		case done:
			return
		default:
			select {
			case <-wake:
			case <-ctx.Done():
				return
			}
		}
	}
}
