package agent

import (
	"context"
	"time"
)

// windowWait limits the search for a model's window.
const windowWait = 15 * time.Second

// learnWindow records the window that a provider named when it refused a request as too long. It takes
// precedence over any table.
func (s *settings) learnWindow(tokens int) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if tokens > 0 && (s.model.Window == 0 || tokens < s.model.Window) {
		s.model.Window = tokens
	}
}

// findWindow looks up the window of a model whose window is unknown: once, in the background, so that no
// request waits for it.
func (s *settings) findWindow() {
	s.c.mu.Lock()
	m := s.model
	if m.Window > 0 || m.FindWindow == nil || s.sought[m.Name] {
		s.c.mu.Unlock()
		return
	}
	s.sought[m.Name] = true
	s.c.mu.Unlock()
	s.c.background.Go(func() {
		ctx, cancel := context.WithTimeout(s.c.ctx, windowWait)
		defer cancel()
		window := m.FindWindow(ctx)
		if window <= 0 {
			return
		}
		s.c.mu.Lock()
		defer s.c.mu.Unlock()
		if s.model.Name == m.Name && s.model.Window == 0 {
			s.model.Window = window
		}
	})
}
