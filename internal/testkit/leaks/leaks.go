// Package leaks checks that no goroutine is left when a package's tests have run. It gives
// goroutines that are ending the time that a slow machine needs. It knows no package's tests.
package leaks

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long a goroutine may take to end; only a failing run waits for it.
const patience = 30 * time.Second

// Main runs the tests and exits. A run whose tests pass fails where a goroutine is left.
func Main(m *testing.M, options ...goleak.Option) { os.Exit(Run(m, options...)) }

// Run is Main for a TestMain that cleans up: it returns the exit code.
func Run(m *testing.M, options ...goleak.Option) int {
	code := m.Run()
	if code == 0 {
		if err := Find(options...); err != nil {
			fmt.Fprintln(os.Stderr, "goleak:", err)
			code = 1
		}
	}
	return code
}

// Find returns an error that describes the goroutines that do not end.
func Find(options ...goleak.Option) error {
	for deadline := time.Now().Add(patience); ; {
		err := goleak.Find(options...) // waits for half a second
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
