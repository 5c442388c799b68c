//go:build unix

package console

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// A second signal ends the process, whatever hangs.
func TestSecondSignalEndsTheProcessAtOnce(t *testing.T) {
	exits := make(chan int, 4)
	ctx, sig := WithSignals(t.Context(), func(code int) { exits <- code })
	defer sig.Stop()
	which, want := syscall.SIGHUP, ExitHup
	if signal.Ignored(which) { // under nohup it ends nothing
		which, want = syscall.SIGTERM, ExitTerm
	}
	raise := func() {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), which); err != nil {
			t.Fatal(err)
		}
	}
	raise()
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Fatal("the first signal ended nothing")
	}
	if sig.Code() != want {
		t.Errorf("code %d, want %d", sig.Code(), want)
	}
	again := time.NewTicker(hardAfter / 4)
	defer again.Stop()
	for deadline := time.After(time.Minute); ; {
		select {
		case code := <-exits:
			if code != want {
				t.Errorf("exit %d, want %d", code, want)
			}
			return
		case <-again.C:
			raise()
		case <-deadline:
			t.Fatal("no further signal ended the process")
		}
	}
}
