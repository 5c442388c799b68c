//go:build linux || darwin

package cli_test

import (
	"bufio"
	"os"
	"strings"
	"syscall"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// TestWhoWatchesFollowsASessionToItsNextProcess: the process is killed, the session is continued in another one, and
// nothing is shown twice or left out.
func TestWhoWatchesFollowsASessionToItsNextProcess(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("First answer."), modeltest.Text("Second answer."))
	c.start()
	c.say("hi")
	c.wait("First answer.")
	c.idle()
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	watch := c.command(exe, "sessions", "watch")
	watch.Args[0] = "jcode"
	out, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := watch.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = watch.Process.Kill() // it may have ended
		_ = watch.Wait()
	})
	var seen strings.Builder
	lines := bufio.NewScanner(out)
	until := func(text string) {
		t.Helper()
		for !strings.Contains(seen.String(), text) {
			if !lines.Scan() {
				t.Fatalf("it ended: %s", seen.String())
			}
			seen.WriteString(lines.Text() + "\n")
		}
	}
	until("First answer.")
	if err := syscall.Kill(c.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ExitCode(patience); err != nil {
		t.Log(err)
	}
	if words := bufio.NewScanner(said); !words.Scan() || !strings.Contains(words.Text(), "is lost") {
		t.Errorf("it says %q", words.Text())
	}
	c.startAt("First answer.", "-c")
	c.say("and again")
	until("Second answer.")
	c.wait("Second answer.")
	c.quit()
	for lines.Scan() { // it ends with the session
		seen.WriteString(lines.Text() + "\n")
	}
	for _, text := range []string{"First answer.", "Second answer.", "> hi", "> and again"} {
		if n := strings.Count(seen.String(), text); n != 1 {
			t.Errorf("%q is shown %d times:\n%s", text, n, seen.String())
		}
	}
}
