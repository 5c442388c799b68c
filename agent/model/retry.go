package model

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter reads how long a server asks to wait: retry-after-ms, or Retry-After in
// seconds or as a date. 0 when it says nothing, or nothing that can be read.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return seconds(s)
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// seconds keeps huge and negative numbers within what a Duration holds.
func seconds(s float64) time.Duration {
	const most = 365 * 24 * time.Hour
	if !(s > 0) {
		return 0
	}
	if s > most.Seconds() {
		return most
	}
	return time.Duration(s * float64(time.Second))
}

// backoff is our own wait before the attempt after n failed ones (n ≥ 1): doubling, with
// up to a quarter of chance on top, so that many clients do not come back together.
func (l Limits) backoff(n int) time.Duration {
	d := l.Backoff << min(n-1, 20)
	if d > l.MaxBackoff || d <= 0 {
		d = l.MaxBackoff
	}
	return d + time.Duration(rand.Int64N(int64(d)/4+1))
}

// sleep waits; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
