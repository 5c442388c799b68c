// Package shorten leaves tests out of short runs, such as those with the race detector: the full run has just had them.
package shorten

import (
	"hash/fnv"
	"testing"
)

// OneIn skips a test in a short run, but for one in n: which ones depends on their names alone.
func OneIn(t testing.TB, n uint32) {
	t.Helper()
	if !testing.Short() {
		return
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.Name())) // it never fails
	if h.Sum32()%n != 0 {
		t.Skip("left out of a short run")
	}
}
