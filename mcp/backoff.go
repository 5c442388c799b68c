package mcp

import (
	"math/rand/v2"
	"time"

	"jcode/mcp/wire"
)

// retryPlan says when a lost or failed connection is tried again.
type retryPlan struct {
	url    bool // a URL server: tried without end
	single bool // the first failure is the answer
}

const (
	longestURLDelay = 30 * time.Second
	stdioTries      = 5
	earlyTries      = 2
)

// next returns the delay before the retry with this number (1-based), and false when the
// tries are used up or no retry cures the fault.
func (p retryPlan) next(kind wire.Retry, number int) (time.Duration, bool) {
	if p.single || kind == wire.RetryNever {
		return 0, false
	}
	exponential := time.Second << min(number-1, 10)
	switch {
	case p.url:
		return min(exponential, longestURLDelay), true
	case kind == wire.RetryTimeout:
		return 5 * time.Second, number <= 1
	case kind == wire.RetryEarly:
		return exponential, number <= earlyTries
	}
	return exponential, number <= stdioTries
}

// jitter spreads a delay by a fifth, so that servers that died together don't come back
// together.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}
