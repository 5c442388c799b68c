package builtin_test

import (
	"testing"

	"jcode/internal/testkit/leaks"
)

// TestMain checks that no goroutine outlives the tests. It looks once, at the end: while tests
// run beside each other, one of them can't tell its own goroutines from those of the others.
func TestMain(m *testing.M) { leaks.Main(m) }
