package page

import (
	"context"
	"sync"
)

// requests are those that are being answered, by device, so that they end when it is revoked.
type requests struct {
	mu   sync.Mutex
	next int
	ends map[string]map[int]context.CancelFunc
}

// add notes a request until the returned function is called, which ends its context.
func (q *requests) add(device string, end context.CancelFunc) (done func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ends == nil {
		q.ends = map[string]map[int]context.CancelFunc{}
	}
	if q.ends[device] == nil {
		q.ends[device] = map[int]context.CancelFunc{}
	}
	q.next++
	n := q.next
	q.ends[device][n] = end
	return func() {
		end()
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.ends[device], n)
		if len(q.ends[device]) == 0 {
			delete(q.ends, device)
		}
	}
}

// count returns how many requests of a device are being answered.
func (q *requests) count(device string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.ends[device])
}

// endUnless ends the requests of the devices that are not kept.
func (q *requests) endUnless(keep func(device string) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for device, ends := range q.ends {
		if keep(device) {
			continue
		}
		for _, end := range ends {
			end()
		}
	}
}
