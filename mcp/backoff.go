package mcp

import (
	"math/rand/v2"
	"time"

	"jcode/mcp/wire"
)

// retryPlan schedules attempts after a lost or failed connection.
type retryPlan struct {
	url    bool // a URL server: retried indefinitely
	single bool // report the first failure to the caller; do not retry
}

const (
	longestURLDelay = 30 * time.Second
	stdioTries      = 5
	earlyTries      = 2
)

// next returns the delay before a retry by its number (1-based), and false when there are no
// more retries or the fault is permanent.
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

// jitter varies a delay by up to a fifth, so that servers that failed together are not
// restarted together.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}
