package console

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Signals ends a context at SIGINT, SIGTERM or SIGHUP and remembers which it was.
type Signals struct {
	// Stop ends the context, and signals do again what they did before.
	Stop func()
	got  chan os.Signal
}

// hardAfter is how long after the first signal another one ends the process at once. Two signals in quick
// succession are taken as one.
const hardAfter = time.Second

// WithSignals returns a context that ends with the first signal. exit ends the process.
func WithSignals(parent context.Context, exit func(code int)) (context.Context, *Signals) {
	ctx, cancel := context.WithCancel(parent)
	in := make(chan os.Signal, 4)
	signal.Notify(in, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // under nohup it is
		signal.Notify(in, syscall.SIGHUP)
	}
	s := &Signals{got: make(chan os.Signal, 1)}
	done := make(chan struct{})
	go func() {
		var first time.Time
		for {
			select {
			case sig := <-in:
				switch {
				case first.IsZero():
					first = time.Now()
					s.got <- sig
					cancel()
				case time.Since(first) >= hardAfter:
					exit(signalCode(sig))
				}
			case <-done:
				return
			}
		}
	}()
	s.Stop = func() {
		signal.Stop(in)
		close(done)
		cancel()
	}
	return ctx, s
}

// Code returns the exit code of the signal that came first, 0 when none did.
func (s *Signals) Code() int {
	select {
	case sig := <-s.got:
		s.got <- sig
		return signalCode(sig)
	default:
		return 0
	}
}

func signalCode(sig os.Signal) int {
	switch sig {
	case syscall.SIGTERM:
		return ExitTerm
	case syscall.SIGHUP:
		return ExitHup
	}
	return ExitInt
}
