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
	launcher *proc.Launcher

	mu     sync.Mutex
	live   map[*process]struct{}
	links  map[*HTTP]struct{} // HTTP sessions end with the processes
	closed bool
}

// NewHost returns a host without links.
func NewHost() *Host {
	return &Host{launcher: proc.NewServerLauncher(), live: map[*process]struct{}{}, links: map[*HTTP]struct{}{}}
}

func (h *Host) add(p *process) {
	h.mu.Lock()
	h.live[p] = struct{}{}
	late := h.closed
	h.mu.Unlock()
	if late {
		p.kill()
	}
}

func (h *Host) drop(p *process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.live, p)
}

func (h *Host) list() []*process {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]*process, 0, len(h.live))
	for p := range h.live {
		out = append(out, p)
	}
	return out
}

// addLink tracks an HTTP session until it is gone.
func (h *Host) addLink(l *HTTP) {
	h.mu.Lock()
	h.links[l] = struct{}{}
	late := h.closed
	h.mu.Unlock()
	go func() {
		<-l.goneCh
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.links, l)
	}()
	if late {
		l.Kill()
	}
}

func (h *Host) httpLinks() []*HTTP {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.links))
}

// Close ends all processes in parallel and waits until they are gone; those that still run
// after grace are killed.
func (h *Host) Close(grace time.Duration) {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	all := h.list()
	for _, p := range all {
		p.stop()
	}
	late := time.AfterFunc(grace, func() {
		for _, p := range h.list() {
			p.kill()
		}
		for _, l := range h.httpLinks() {
			l.Kill()
		}
	})
	links := h.httpLinks()
	for _, l := range links {
		l.Close()
	}
	for _, p := range all {
		<-p.gone
	}
	for _, l := range links {
		<-l.goneCh
	}
	late.Stop()
	h.launcher.Close()
}
