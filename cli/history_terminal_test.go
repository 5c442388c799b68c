//go:build linux || darwin

package cli_test

import (
	"syscall"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// A draft that was sent does not come back: it was stored for the folder, and belongs to the session that it
// started.
func TestADraftThatWasSentDoesNotComeBack(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("An answer."))
	c.start()
	c.Type("half a")
	c.wait("› half a")
	if err := c.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ExitCode(patience); err != nil {
		t.Fatal(err)
	}
	c.startAt("› half a")
	c.Type(" prompt")
	c.Press("enter")
	c.wait("An answer.")
	c.quit()
	c.start()
	if s := c.wait("test-model"); s.Contains("half a") { // the session is open: its draft would be there
		t.Errorf("the draft came back:\n%s", s.Text())
	}
	c.quit()
}
