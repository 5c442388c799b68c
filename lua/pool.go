package lua

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Limits of a pooled host's life.
const (
	maxServed = 200
	maxRest   = 64 << 20 // bytes that a host may hold between calls
	maxCPU    = 20_000   // ms
	idleLimit = 120 * time.Second
)

// pool keeps hosts for tool calls. A host serves one call at a time, with a fresh Lua
// state for each; one spare is kept warm.
type pool struct {
	start  starter
	limit  int // hosts that run at once
	idleIn time.Duration

	mu      sync.Mutex
	idle    []*conn
	running int
	waiting []chan struct{}
	spare   bool // a spare is on its way
	closed  bool
	timer   *time.Timer
	wg      sync.WaitGroup
}

func newPool(start starter, idleIn time.Duration) *pool {
	if idleIn <= 0 {
		idleIn = idleLimit
	}
	return &pool{start: start, limit: max(2, min(runtime.NumCPU(), 8)), idleIn: idleIn}
}

// enter waits for a place to run. Nested calls don't wait: eight tools that call tools
// would lock each other out.
func (p *pool) enter(ctx context.Context, nested bool) error {
	p.mu.Lock()
	if nested || p.running < p.limit {
		p.running++
		p.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	p.waiting = append(p.waiting, turn)
	p.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		if i := slices.Index(p.waiting, turn); i >= 0 {
			p.waiting = slices.Delete(p.waiting, i, i+1)
			return ctx.Err()
		}
		p.leaveLocked() // the turn came at the same moment
		return ctx.Err()
	}
}

func (p *pool) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaveLocked()
}

func (p *pool) leaveLocked() {
	p.running--
	if len(p.waiting) > 0 && p.running < p.limit {
		turn := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.running++
		close(turn)
	}
}

// back takes a place again after a wait; it may exceed the limit.
func (p *pool) back() {
	p.mu.Lock()
	p.running++
	p.mu.Unlock()
}

// take gives a host, warm if there is one, and sees to the next spare.
func (p *pool) take(ctx context.Context) (*conn, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, context.Canceled
	}
	for len(p.idle) > 0 {
		c := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		select {
		case <-c.dead: // ended while it was idle
			p.wg.Go(c.kill)
			continue
		default:
		}
		p.warmLocked()
		p.mu.Unlock()
		return c, nil
	}
	p.warmLocked()
	p.mu.Unlock()
	return p.start(ctx, false)
}

// warm makes sure that one spare is there.
func (p *pool) warm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.warmLocked()
}

func (p *pool) warmLocked() {
	if p.closed || p.spare || len(p.idle) > 0 {
		return
	}
	p.spare = true
	p.wg.Go(func() {
		c, err := p.start(context.Background(), false)
		p.mu.Lock()
		p.spare = false
		if err == nil && !p.closed {
			p.putLocked(c)
			c = nil
		}
		p.mu.Unlock()
		if err == nil && c != nil {
			c.close()
		}
	})
}

// put gives a host back after a clean end, or ends it when it has done enough.
func (p *pool) put(c *conn) {
	c.served++
	worn := c.spent.Tainted || c.served >= maxServed || c.spent.Memory > maxRest || c.spent.CPU > maxCPU
	p.mu.Lock()
	if !worn && !p.closed && len(p.idle) < p.limit {
		p.putLocked(c)
		p.mu.Unlock()
		return
	}
	p.warmLocked()
	p.mu.Unlock()
	c.close()
}

func (p *pool) putLocked(c *conn) {
	c.lastUse = time.Now()
	p.idle = append(p.idle, c)
	if p.timer == nil {
		p.timer = time.AfterFunc(p.idleIn, p.sweep)
	}
}

// sweep ends hosts that were idle for too long.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = nil
	if p.closed {
		return
	}
	next := time.Duration(0)
	p.idle = slices.DeleteFunc(p.idle, func(c *conn) bool {
		left := p.idleIn - time.Since(c.lastUse)
		if left <= 0 {
			p.wg.Go(c.close)
			return true
		}
		if next == 0 || left < next {
			next = left
		}
		return false
	})
	if next > 0 {
		p.timer = time.AfterFunc(next, p.sweep)
	}
}

// close ends all idle hosts and waits until all hosts of the pool are gone. Calls that
// still run end by their own context.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	for _, c := range p.idle {
		p.wg.Go(c.close)
	}
	p.idle = nil
	p.mu.Unlock()
	p.wg.Wait()
}
