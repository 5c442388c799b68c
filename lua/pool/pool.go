package pool

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Limits of a pooled host.
const (
	MaxServed = 200
	maxRest   = 64 << 20 // bytes that a host may hold between calls
	maxCPU    = 20_000   // ms
	idleLimit = 120 * time.Second
)

// Pool keeps hosts for tool calls. A host serves one call at a time, with a fresh Lua state for
// each; one spare host is kept running.
type Pool struct {
	start  Starter
	limit  int // hosts that run at once
	idleIn time.Duration

	mu      sync.Mutex
	idle    []*Conn
	running int // places that are taken
	waiting []chan struct{}
	spare   bool // a spare host is being started
	closed  bool
	timer   *time.Timer
	wg      sync.WaitGroup
}

// NewPool returns a pool of hosts that start starts. A spare host ends after idleIn without use;
// the default is 120 s.
func NewPool(start Starter, idleIn time.Duration) *Pool {
	if idleIn <= 0 {
		idleIn = idleLimit
	}
	return &Pool{start: start, limit: max(2, min(runtime.NumCPU(), 8)), idleIn: idleIn}
}

// Enter waits for a place to run. Nested calls don't wait, otherwise tools that call tools could deadlock.
func (p *Pool) Enter(ctx context.Context, nested bool) error {
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

// Usage returns how many places are taken, and how many idle hosts there are, counting one that
// is being started.
func (p *Pool) Usage() (running, idle int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle = len(p.idle)
	if p.spare {
		idle++
	}
	return p.running, idle
}

// Leave frees a place.
func (p *Pool) Leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaveLocked()
}

func (p *Pool) leaveLocked() {
	p.running--
	if len(p.waiting) > 0 && p.running < p.limit {
		turn := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.running++
		close(turn)
	}
}

// Back takes a place again after a wait; it may exceed the limit.
func (p *Pool) Back() {
	p.mu.Lock()
	p.running++
	p.mu.Unlock()
}

// Take returns a host, the spare one if there is one, and starts the next spare.
func (p *Pool) Take(ctx context.Context) (*Conn, error) {
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
			p.wg.Go(c.Kill)
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

// Warm starts a spare host if there is none.
func (p *Pool) Warm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.warmLocked()
}

func (p *Pool) warmLocked() {
	if p.closed || p.spare || len(p.idle) > 0 {
		return
	}
	p.spare = true
	p.wg.Go(func() {
		c, err := p.start(context.Background(), false)
		p.mu.Lock()
		p.spare = false
		if err == nil && !p.closed { // the next Take reports a persistent error
			p.putLocked(c)
			c = nil
		}
		p.mu.Unlock()
		if err == nil && c != nil {
			c.Close()
		}
	})
}

// Put returns a host to the pool after a clean end, or ends it when it has served enough.
func (p *Pool) Put(c *Conn) {
	c.served++
	worn := c.Spent.Tainted || c.served >= MaxServed || c.Spent.Memory > maxRest || c.Spent.CPU > maxCPU
	p.mu.Lock()
	if !worn && !p.closed && len(p.idle) < p.limit {
		p.putLocked(c)
		p.mu.Unlock()
		return
	}
	p.warmLocked()
	p.mu.Unlock()
	c.Close()
}

func (p *Pool) putLocked(c *Conn) {
	c.lastUse = time.Now()
	p.idle = append(p.idle, c)
	if p.timer == nil {
		p.timer = time.AfterFunc(p.idleIn, p.sweep)
	}
}

// sweep ends hosts that were idle for too long.
func (p *Pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = nil
	if p.closed {
		return
	}
	next := time.Duration(0)
	p.idle = slices.DeleteFunc(p.idle, func(c *Conn) bool {
		left := p.idleIn - time.Since(c.lastUse)
		if left <= 0 {
			p.wg.Go(c.Close)
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

// Close ends all idle hosts and waits until all hosts of the pool are gone. Calls that
// still run end by their own context.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	for _, c := range p.idle {
		p.wg.Go(c.Close)
	}
	p.idle = nil
	p.mu.Unlock()
	p.wg.Wait()
}
