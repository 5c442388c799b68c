package crew

import (
	"testing"

	"jcode/internal/testkit/leaks"
)

// TestMain checks that no goroutine outlives the tests. It checks once, at the end: while tests run
// in parallel, none can tell its own goroutines from those of the others.
func TestMain(m *testing.M) { leaks.Main(m) }
