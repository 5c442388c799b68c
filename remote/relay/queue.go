package relay

import (
	"sync"

	"jcode/remote"
)

// queue is what a window has not been sent yet.
type queue struct {
	window remote.Window
	sends  sync.WaitGroup
	more   chan struct{} // something has come

	mu     sync.Mutex
	behind []byte
	lost   bool // it was too slow: what is kept for it is of no use without what was dropped
	left   *remote.Left
}

func newQueue(w remote.Window) *queue { return &queue{window: w, more: make(chan struct{}, 1)} }

// draw keeps what the program drew until it is sent. A window that is too far behind loses it, and gets all anew later:
// it holds up nobody.
func (q *queue) draw(b []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.lost || len(q.behind)+len(b) > maxBehind {
		q.behind, q.lost = nil, true
	} else {
		q.behind = append(q.behind, b...)
	}
	q.signal()
}

// end says that nothing more follows.
func (q *queue) end(l remote.Left) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.left = &l
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *queue) ended() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.left != nil
}

func (q *queue) take() (data []byte, lost bool, left *remote.Left) {
	q.mu.Lock()
	defer q.mu.Unlock()
	data, lost, left = q.behind, q.lost, q.left
	q.behind, q.lost = nil, false
	return data, lost, left
}

// send passes on what comes until the end. anew asks for all again, gone says that nobody is at the other side.
func (q *queue) send(anew, gone func()) {
	for range q.more {
		data, lost, left := q.take()
		if len(data) > 0 && q.window.Draw(data) != nil {
			gone()
			return
		}
		switch {
		case left != nil:
			q.window.Left(*left)
			return
		case lost:
			anew()
		}
	}
}
