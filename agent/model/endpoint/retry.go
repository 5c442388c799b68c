package endpoint

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"jcode/agent/model/provider"
)

// retryAfter reads how long a server asks to wait: retry-after-ms, or Retry-After in seconds or as a date. 0
// when it says nothing readable.
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

// limitReset reads when a rate limit ends from headers and words that several providers use:
// X-RateLimit-Reset as a time, x-ratelimit-reset-tokens as a duration, "try again in 6.5s". 0 when nothing
// says it.
func limitReset(h http.Header, f Fault, now time.Time) time.Duration {
	for _, at := range []string{h.Get("X-RateLimit-Reset"), f.resets} {
		if d := untilReset(at, now); d > 0 {
			return d
		}
	}
	if d := waitInWords(f); d > 0 {
		return d
	}
	words := strings.ToLower(f.message)
	wait := anthropicReset(h, now)
	for _, of := range []string{"Tokens", "Requests"} {
		if left := strings.TrimSpace(h.Get("X-RateLimit-Remaining-" + of)); left == "" || left == "0" || strings.Contains(words, strings.ToLower(of)) {
			wait = max(wait, span(h.Get("X-RateLimit-Reset-"+of)))
		}
	}
	return wait
}

// waitInWords reads how long to wait from words: "Please try again in 6.5s.", "try again in 12 s".
func waitInWords(f Fault) time.Duration {
	words := strings.ToLower(f.message)
	for _, before := range []string{"try again in ", "retry after ", "retry in ", "available in ", "again after "} {
		if _, rest, ok := strings.Cut(words, before); ok {
			if d := span(rest); d > 0 {
				return d
			}
		}
	}
	return 0
}

// anthropicReset reads when the limits end that Anthropic's headers say are used up.
func anthropicReset(h http.Header, now time.Time) (wait time.Duration) {
	for _, of := range []string{"Requests", "Tokens", "Input-Tokens", "Output-Tokens"} {
		name := "Anthropic-Ratelimit-" + of
		if strings.TrimSpace(h.Get(name+"-Remaining")) != "0" {
			continue
		}
		if at, err := time.Parse(time.RFC3339, strings.TrimSpace(h.Get(name+"-Reset"))); err == nil {
			wait = max(wait, at.Sub(now))
		}
	}
	return max(wait, 0)
}

// untilReset reads a time in seconds or milliseconds since 1970, or seconds from now.
func untilReset(s string, now time.Time) time.Duration {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	switch {
	case err != nil || v <= 0:
		return 0
	case v > 1e11:
		return max(0, time.UnixMilli(int64(v)).Sub(now))
	case v > 1e8:
		return max(0, time.Unix(int64(v), 0).Sub(now))
	}
	return seconds(v)
}

// span reads a duration at the start of s: "6.5s", "1m30s", "20 seconds", "500ms".
func span(s string) time.Duration {
	s = strings.TrimSpace(s)
	end := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && !strings.ContainsRune(".hms", r) })
	if end < 0 {
		end = len(s)
	}
	word := strings.TrimRight(s[:end], ".")
	if d, err := time.ParseDuration(word); err == nil {
		return max(0, d)
	}
	n, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return 0
	}
	switch rest := strings.TrimSpace(s[end:]); {
	case strings.HasPrefix(rest, "ms") || strings.HasPrefix(rest, "milli"):
		return seconds(n / 1000)
	case strings.HasPrefix(rest, "m"):
		return seconds(n * 60)
	case strings.HasPrefix(rest, "h"):
		return seconds(n * 3600)
	}
	return seconds(n)
}

// seconds clamps s to what a Duration can hold.
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

// backoff returns our own wait before the attempt after n failed ones (n ≥ 1): doubling, plus up to a quarter
// at random, so that many clients do not retry together.
func backoff(l provider.Limits, n int) time.Duration {
	d := l.Backoff << min(n-1, 20)
	if d > l.MaxBackoff || d <= 0 {
		d = l.MaxBackoff
	}
	return d + time.Duration(rand.Int64N(int64(d)/4+1))
}

// Sleep waits; it returns false when ctx ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
