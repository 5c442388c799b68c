package acp

import (
	"sync"

	"github.com/coder/acp-go-sdk"
)

// client is the other side: its connection, and what it said of itself.
type client struct {
	conn *conn

	mu      sync.Mutex
	can     acp.ClientCapabilities
	greeted bool
}

// greet takes what the client says of itself with initialize.
func (c *client) greet(can acp.ClientCapabilities) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.can, c.greeted = can, true
}

func (c *client) initialized() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.greeted
}

func (c *client) capabilities() acp.ClientCapabilities {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.can
}
