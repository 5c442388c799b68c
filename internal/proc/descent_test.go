package proc_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"jcode/internal/proc"
)

// childVariable tells the test's program what to do as a child of it.
const childVariable = "PROC_TEST_CHILD"

// TestWhoWasStartedByThisProgramIsKnown: a child, and one whose parent has ended, but not who started this program.
func TestWhoWasStartedByThisProgramIsKnown(t *testing.T) {
	again := func(what string, env []string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(env, childVariable+"="+what)
		cmd.Stderr = os.Stderr
		return cmd
	}
	switch os.Getenv(childVariable) {
	case "wait":
		fmt.Println("pid", os.Getpid())
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is closed
		os.Exit(0)
	case "leave": // behind a child that goes on
		cmd := again("wait", os.Environ())
		cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		os.Exit(0)
	}
	// started returns the process that says its number, and what ends it.
	started := func(what string) (pid int, end func()) {
		in, hold, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		said, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := again(what, nil)
		env := append(os.Environ(), childVariable+"="+what)
		p, err := proc.Start(proc.Spec{Argv: cmd.Args, Env: env, Stdin: in, Stdout: out, Stderr: os.Stderr})
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(said).ReadString('\n')
		number, found := strings.CutPrefix(strings.TrimSpace(line), "pid ")
		if pid, _ = strconv.Atoi(number); !found || pid == 0 {
			t.Fatalf("%q %v", line, err)
		}
		return pid, func() {
			_ = hold.Close()
			<-p.Done()
			for _, f := range []*os.File{in, said, out} {
				_ = f.Close()
			}
		}
	}
	child, end := started("wait")
	if !proc.Descends(child) || !proc.Descends(os.Getpid()) {
		t.Error("a child is a stranger")
	}
	end()
	if runtime.GOOS != "darwin" { // which forgets who started a process whose parent has ended
		orphan, end := started("leave")
		if !proc.Descends(orphan) {
			t.Error("a grandchild whose parent has ended is a stranger")
		}
		end()
	}
	if _, gone := os.FindProcess(os.Getppid()); gone == nil && proc.Descends(os.Getppid()) && os.Getenv("JCODE_TREE") == "" {
		t.Error("who started this program descends from it")
	}
	if !proc.Descends(1 << 30) {
		t.Error("a process that is not there is believed")
	}
}
