package page

import "time"

// Pass lets time pass for a code.
func (c *Codes) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now
	c.now = func() time.Time { return now().Add(d) }
}
