//go:build unix

package console

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// A second signal ends the process, whatever hangs.
func TestSecondSignalEndsTheProcessAtOnce(t *testing.T) {
	exits := make(chan int, 4)
	ctx, sig := WithSignals(t.Context(), func(code int) { exits <- code })
	defer sig.Stop()
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
	if sig.Code() != ExitHup {
		t.Errorf("code %d, want %d", sig.Code(), ExitHup)
	}
	again := time.NewTicker(hardAfter / 4)
	defer again.Stop()
	for deadline := time.After(time.Minute); ; {
		select {
		case code := <-exits:
			if code != ExitHup {
				t.Errorf("exit %d, want %d", code, ExitHup)
			}
			return
		case <-again.C:
			raise()
		case <-deadline:
			t.Fatal("no further signal ended the process")
		}
	}
}
