package proc_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"jcode/internal/proc"
	"jcode/internal/testkit/eventually"
)

// initVariable makes this test binary act as a program that may be process 1.
const initVariable = "PROC_TEST_INIT"

// playInit leaves orphans behind, prints a line, and exits with 7 at the end of its input.
func playInit() {
	if os.Getenv(initVariable) == "" {
		return
	}
	if code, done := proc.AsInit(); done {
		os.Exit(code)
	}
	if err := exec.Command("sh", "-c", "true & true &").Run(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("left")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	os.Exit(7)
}

// asProcessOne starts this binary as process 1 of a new PID namespace.
func asProcessOne(t *testing.T) (cmd *exec.Cmd, in interface{ Close() error }) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), initVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no PID namespace can be made here: %v", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "left\n" {
		t.Fatalf("it said %q, %v", line, err)
	}
	return cmd, stdin
}

// childrenOf lists the children of a process, zombies included.
func childrenOf(t *testing.T, pid int) []string {
	t.Helper()
	tasks, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "children"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, task := range tasks {
		if list, err := os.ReadFile(task); err == nil {
			all = append(all, strings.Fields(string(list))...)
		}
	}
	return all
}

func TestProcessOneReapsOrphansAndEndsAsItsProgram(t *testing.T) {
	cmd, in := asProcessOne(t)
	left := func() string { return fmt.Sprint(childrenOf(t, cmd.Process.Pid)) }
	eventually.True(t, "process 1 has no child but the program itself", func() bool { return len(childrenOf(t, cmd.Process.Pid)) == 1 }, left)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("it ended with %v", err)
	}
}

func TestProcessOneHandsSignalsOn(t *testing.T) {
	cmd, _ := asProcessOne(t)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Errorf("it ended with %v", err)
	}
}
