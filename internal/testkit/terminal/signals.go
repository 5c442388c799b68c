package terminal

import (
	"os"
	"os/signal"
	"syscall"
)

// HeedSignals lets programs that are started from here on end by Ctrl+C and by the end of their terminal, as
// from an interactive shell: tests that are started in the background or under nohup ignore SIGINT or SIGHUP,
// and children inherit that, but not a handler.
func HeedSignals() {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}
