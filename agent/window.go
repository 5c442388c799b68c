package agent

import (
	"context"
	"time"
)

// windowWait bounds the search for a model's window.
const windowWait = 15 * time.Second

// learnWindow takes the window that a provider named when it refused a request as too long.
// It knows better than any table.
func (c *Conversation) learnWindow(tokens int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if tokens > 0 && (c.model.Window == 0 || tokens < c.model.Window) {
		c.model.Window = tokens
	}
}

// findWindow looks for the window of a model of which it is unknown: once, in the
// background, so that no request waits for it.
func (c *Conversation) findWindow() {
	c.mu.Lock()
	m := c.model
	if m.Window > 0 || m.FindWindow == nil || c.sought[m.Name] {
		c.mu.Unlock()
		return
	}
	c.sought[m.Name] = true
	c.mu.Unlock()
	c.background.Go(func() {
		ctx, cancel := context.WithTimeout(c.ctx, windowWait)
		defer cancel()
		window := m.FindWindow(ctx)
		if window <= 0 {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.model.Name == m.Name && c.model.Window == 0 {
			c.model.Window = window
		}
	})
}
