// Package eventually waits in tests for what other goroutines and other processes bring about, and watches that
// something does not happen.
package eventually

import (
	"os"
	"time"
)

// Limit is how long a test waits: longer than any machine needs.
const Limit = time.Minute

// testing is what this package needs of a test or a benchmark.
type testing interface {
	Helper()
	Fatalf(format string, args ...any)
}

// True waits until a condition holds. Where it does not within Limit the test fails; seen says what there was instead.
func True(t testing, what string, holds func() bool, seen ...func() string) {
	t.Helper()
	Within(t, Limit, what, holds, seen...)
}

// Within is True with a limit of the test's own.
func Within(t testing, limit time.Duration, what string, holds func() bool, seen ...func() string) {
	t.Helper()
	if Holds(limit, holds) {
		return
	}
	instead := ""
	for _, f := range seen {
		instead += "\n" + f()
	}
	t.Fatalf("never: %s (not within %s)%s", what, limit, instead)
}

// Holds waits until a condition holds, and reports whether it did within the limit: for goroutines, which can't end a
// test, and for helpers that say in words of their own what is missing.
func Holds(limit time.Duration, holds func() bool) bool {
	for began := time.Now(); ; {
		if holds() {
			return true
		}
		waited := time.Since(began)
		if waited >= limit {
			return false
		}
		// Often at first, then more rarely: what takes long is not made slower by looks at it.
		time.Sleep(min(max(waited/20, time.Millisecond), 20*time.Millisecond))
	}
}

// Never watches for a span of time that something does not happen. Such a proof takes its time: it is only for what no
// event marks the end of.
func Never(t testing, span time.Duration, what string, happens func() bool) {
	t.Helper()
	if Holds(span, happens) {
		t.Fatalf("it happened: %s", what)
	}
}

// File waits until there is a file.
func File(t testing, path string) {
	t.Helper()
	True(t, "the file "+path, func() bool {
		_, err := os.Lstat(path)
		return err == nil
	})
}
