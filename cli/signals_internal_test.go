//go:build unix

package cli

import (
	"os"
	"syscall"
	"testing"
	"time"

	"jcode/cli/console"
)

// A second signal ends the process, whatever hangs.
func TestSecondSignalEndsTheProcessAtOnce(t *testing.T) {
	exits := make(chan int, 4)
	ctx, sig := withSignals(t.Context(), func(code int) { exits <- code })
	defer sig.stop()
	raise := func() {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	raise()
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Fatal("the first signal ended nothing")
	}
	if sig.code() != console.ExitHup {
		t.Errorf("code %d, want %d", sig.code(), console.ExitHup)
	}
	again := time.NewTicker(hardAfter / 4)
	defer again.Stop()
	for deadline := time.After(time.Minute); ; {
		select {
		case code := <-exits:
			if code != console.ExitHup {
				t.Errorf("exit %d, want %d", code, console.ExitHup)
			}
			return
		case <-again.C:
			raise()
		case <-deadline:
			t.Fatal("no further signal ended the process")
		}
	}
}
