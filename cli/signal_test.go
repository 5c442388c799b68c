//go:build unix

package cli_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/modeltest"
)

func TestSignalsEndAToolAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	for sig, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		dir, home := t.TempDir(), t.TempDir()
		srv := modeltest.New(t,
			modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "echo $$ > pid; sleep 300"})),
			modeltest.Text("Going on."),
		)
		cmd := jcode(t.Context(), t, dir, home, srv.URL(), "-p", "--mode", "yolo", "work")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid := waitForPid(t, filepath.Join(dir, "pid"))
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != want {
			t.Errorf("%v: %v, want exit %d", sig, err, want)
		}
		if err := syscall.Kill(pid, 0); err == nil && !zombie(pid) {
			t.Errorf("%v: process %d of the tool still lives", sig, pid)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		out, err := jcode(ctx, t, dir, home, srv.URL(), "-p", "-c", "go on").Output()
		cancel()
		if err != nil || strings.TrimSpace(string(out)) != "Going on." {
			t.Errorf("%v: the next run gave %q, %v", sig, out, err)
		}
	}
}

// A pipe whose other end stays open is waited for, and a signal ends the wait.
func TestSignalEndsTheWaitForStandardInput(t *testing.T) {
	t.Parallel()
	for sig, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		cmd := jcode(t.Context(), t, t.TempDir(), t.TempDir(), "http://127.0.0.1:9/v1", "-p", "--output-format", "json", "work")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = in.Close() }() // held open until the end
		var stdout strings.Builder
		cmd.Stdout = &stdout
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// After a while it says what it is waiting for.
		if line, err := bufio.NewReader(stderr).ReadString('\n'); err != nil || !strings.Contains(line, "waiting for the end of standard input") {
			t.Fatalf("stderr begins with %q, %v", line, err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != want {
			t.Errorf("%v: %v, want exit %d", sig, err, want)
		}
		if got := stdout.String(); !strings.HasPrefix(got, `{"type":"result","ok":false`) || !strings.Contains(got, "interrupted") {
			t.Errorf("%v: stdout %q", sig, got)
		}
	}
}

// waitForPid reads a process ID from a file as soon as it is there.
func waitForPid(t *testing.T, path string) int {
	t.Helper()
	pid := 0
	eventually.True(t, "a process ID in "+path, func() bool {
		b, err := os.ReadFile(path)
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
		return err == nil
	})
	return pid
}

// zombie reports whether a process has ended but was not reaped, for example under an init that does not reap.
func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z")
}
