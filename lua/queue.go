package lua

import (
	"context"
	"sync"
)

// queue runs what is given to it one after another.
type queue struct {
	mu    sync.Mutex
	list  []func()
	wake  chan struct{}
	ended chan struct{}
	done  bool
}

func (q *queue) channels() (wake, ended chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.wake == nil {
		q.wake, q.ended = make(chan struct{}, 1), make(chan struct{})
	}
	return q.wake, q.ended
}

func (q *queue) add(f func()) {
	wake, _ := q.channels()
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

func (q *queue) close() {
	wake, _ := q.channels()
	q.mu.Lock()
	q.done, q.list = true, nil
	q.mu.Unlock()
	select {
	case wake <- struct{}{}:
	default:
	}
}

func (q *queue) run(ctx context.Context) {
	wake, ended := q.channels()
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
