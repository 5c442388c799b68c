package mcp

import (
	"maps"
	"slices"
	"sync"
	"time"

	"jcode/internal/proc"
)

// processHost starts server processes from one thread and knows all that live.
type processHost struct {
	launcher *proc.Launcher

	mu     sync.Mutex
	live   map[*process]struct{}
	links  map[*httpLink]struct{} // HTTP sessions end with the processes
	closed bool
}

func newProcessHost() *processHost {
	return &processHost{launcher: proc.NewServerLauncher(), live: map[*process]struct{}{}, links: map[*httpLink]struct{}{}}
}

func (h *processHost) add(p *process) {
	h.mu.Lock()
	h.live[p] = struct{}{}
	late := h.closed
	h.mu.Unlock()
	if late {
		p.kill()
	}
}

func (h *processHost) drop(p *process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.live, p)
}

func (h *processHost) list() []*process {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]*process, 0, len(h.live))
	for p := range h.live {
		out = append(out, p)
	}
	return out
}

// addLink notes an HTTP session until it is gone.
func (h *processHost) addLink(l *httpLink) {
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
		l.kill()
	}
}

func (h *processHost) httpLinks() []*httpLink {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.links))
}

// close ends all processes in parallel and waits until they are gone; those that live
// when grace is over are killed.
func (h *processHost) close(grace time.Duration) {
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
			l.kill()
		}
	})
	links := h.httpLinks()
	for _, l := range links {
		l.close()
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
