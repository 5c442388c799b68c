package wire

import (
	"maps"
	"slices"
	"sync"
	"time"

	"jcode/internal/proc"
)

// Host opens links and ends all of them on Close. Processes are started from one thread.
type Host struct {
	launcher  *proc.Launcher
	variables func() []string

	mu     sync.Mutex
	links  map[Link]struct{} // that are not gone
	closed bool
}

// NewHost returns a host without links. variables returns what a process gets besides the environment of its target,
// which counts more; nil for nothing.
func NewHost(variables func() []string) *Host {
	return &Host{launcher: proc.NewServerLauncher(), variables: variables, links: map[Link]struct{}{}}
}

// add tracks a link until it is gone.
func (h *Host) add(l Link) {
	h.mu.Lock()
	h.links[l] = struct{}{}
	late := h.closed
	h.mu.Unlock()
	go func() {
		<-l.Gone()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.links, l)
	}()
	if late {
		l.Kill()
	}
}

func (h *Host) open() []Link {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.links))
}

// Close ends all links in parallel and waits until they are gone; those that are still open after grace are
// killed.
func (h *Host) Close(grace time.Duration) {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	late := time.AfterFunc(grace, func() {
		for _, l := range h.open() {
			l.Kill()
		}
	})
	links := h.open()
	for _, l := range links {
		l.Close()
	}
	for _, l := range links {
		<-l.Gone()
	}
	late.Stop()
	h.launcher.Close()
}
