//go:build linux

package tui

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/terminal"
	"jcode/tui/tuitest"
)

func TestIdleAfterATurnWritesNothingAndUsesNoProcessor(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes a while")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "JCODE_TUI_CHILD=turn", "TERM=xterm-256color")
	term, err := terminal.Start(cmd, 80, 24)
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	t.Cleanup(term.Close)
	waitScreen(t, term, "›")
	term.Type("go")
	waitScreen(t, term, "› go")
	term.Press("enter")
	waitScreen(t, term, "done")
	term.Settle(5*time.Second, tuitest.Limit) // Bubble Tea queries the terminal one second after the start
	const span = 15 * time.Second             // proving that nothing happens takes time
	written, before := term.Written(), cpuTime(t, term.Pid())
	if eventually.Holds(span, func() bool { return term.Written() != written }) {
		n, out := term.Written()-written, term.Output()
		t.Fatalf("%d bytes were written while idle: %q", n, out[max(len(out)-int(n), 0):])
	}
	if used := cpuTime(t, term.Pid()) - before; used > span/100 {
		t.Errorf("%s of processor time in %s of nothing", used, span)
	}
}

// cpuTime returns the processor time of a process's threads.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(tasks) == 0 {
		t.Skipf("the system does not tell the processor time of threads (%v)", err)
	}
	var total time.Duration
	for _, task := range tasks {
		data, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		n, err := strconv.ParseInt(strings.Fields(string(data))[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		total += time.Duration(n)
	}
	return total
}
