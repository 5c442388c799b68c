//go:build linux || darwin

package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"jcode/internal/testkit/mcptest"
	"jcode/internal/testkit/modeltest"
)

// trees are servers that do not exit by themselves: one with a child that keeps its pipes open, one that ignores
// SIGTERM and the end of its input.
var trees = map[string]string{"tree": "grandchild", "deaf": "noeof-ignoreterm"}

// running waits until all processes of the servers have started, and returns them.
func (s *servers) running() []int {
	s.t.Helper()
	return append(s.counted("tree", 2, 0), s.counted("deaf", 1, 0)...)
}

// ended waits until all of the processes have ended.
func ended(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		gone(t, pid)
	}
	if t.Failed() { // no process outlives a failed test
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// TestNoServerOutlivesAHeadlessRun: jcode is terminated while one of its servers works.
func TestNoServerOutlivesAHeadlessRun(t *testing.T) {
	t.Parallel()
	for sig, want := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130, syscall.SIGHUP: 129} {
		t.Run(sig.String(), func(t *testing.T) {
			s := withServers(newChat(t, modeltest.Calls(tool("c1", "mcp:tree:sleep", map[string]any{"ms": 600_000}))), trees)
			cmd := jcode(t.Context(), t, s.dir, s.home, s.srv.URL(), "-p", "--mode", "yolo", "work")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pids := s.running()
			received(t, s.logs["tree"], "tools/call", 1)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != want {
				t.Errorf("%v, want exit %d", err, want)
			}
			ended(t, pids)
		})
	}
}

// TestNoServerOutlivesTheChat: the chat is terminated, or its terminal is closed.
func TestNoServerOutlivesTheChat(t *testing.T) {
	t.Parallel()
	signal := func(sig os.Signal) func(*servers) error {
		return func(s *servers) error { return s.Signal(sig) }
	}
	for name, how := range map[string]struct {
		end  func(*servers) error
		want int
	}{
		"SIGTERM":         {signal(syscall.SIGTERM), 143},
		"SIGHUP":          {signal(syscall.SIGHUP), 129},
		"closed terminal": {func(s *servers) error { return s.HangUp() }, 129},
	} {
		t.Run(name, func(t *testing.T) {
			s := withServers(newChat(t), trees)
			s.start()
			pids := s.running()
			if err := how.end(s); err != nil {
				t.Fatal(err)
			}
			if code, err := s.ExitCode(patience); err != nil || code != how.want {
				t.Errorf("exit %d, %v; want %d", code, err, how.want)
			}
			ended(t, pids)
		})
	}
}

// TestNoServerOutlivesAKilledChat: a killed jcode cannot shut the servers down.
func TestNoServerOutlivesAKilledChat(t *testing.T) {
	t.Parallel()
	s := withServers(newChat(t), trees)
	s.start()
	pids := s.running()
	if err := s.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ended(t, pids)
}

// TestServerOfACommandLeavesNothing: `jcode mcp test` starts a server of its own.
func TestServerOfACommandLeavesNothing(t *testing.T) {
	t.Parallel()
	s := withServers(newChat(t), trees)
	out, err := jcode(t.Context(), t, s.dir, s.home, s.srv.URL(), "mcp", "test", "tree").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	events, err := mcptest.ReadLog(filepath.Clean(s.logs["tree"]))
	if err != nil {
		t.Fatal(err)
	}
	pids := mcptest.Pids(events)
	if len(pids) == 0 {
		t.Fatal("nothing was started")
	}
	ended(t, pids)
}
