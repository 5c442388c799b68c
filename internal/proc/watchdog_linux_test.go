package proc

import (
	"testing"
	"time"
)

// A command also ends with jcode, with everything it started, if the watchdog was only told that it
// is being started.
func TestWatchdogEndsACommandThatWasJustBeingStarted(t *testing.T) {
	t.Parallel()
	w := startWatchdog("")
	mark := newMarker()
	w.starting(markerName + "=" + mark)
	p, err := Start(Spec{Argv: []string{"/bin/sh", "-c", "sleep 300 & wait"}, mark: mark})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.input.Close(); err != nil { // as a kill of jcode does
		t.Fatal(err)
	}
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		t.Error("the command lives")
		_ = p.Kill()
	}
	<-w.process.Done()
}
