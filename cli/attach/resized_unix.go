//go:build unix

package attach

import (
	"os"
	"os/signal"
	"syscall"
)

// resized says when the terminal has another size.
func resized() (changed <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	return c, func() { signal.Stop(c) }
}
