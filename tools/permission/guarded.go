package permission

import "sync"

// guarded is a value behind a mutex. The zero value is ready to use.
type guarded[T any] struct {
	mu    sync.Mutex
	value T
}

func (g *guarded[T]) with(f func(*T)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(&g.value)
}
