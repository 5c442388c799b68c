package mcp

import "sync"

// watchers are the channels that are notified of changes.
type watchers struct {
	mu  sync.Mutex
	set map[chan struct{}]struct{}
}

func (w *watchers) add() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.set == nil {
		w.set = map[chan struct{}]struct{}{}
	}
	w.set[ch] = struct{}{}
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.set, ch)
	}
}

func (w *watchers) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ch := range w.set {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
