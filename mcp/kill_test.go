package mcp

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"jcode/internal/testkit/mcptest"
	"jcode/mcp/config"
	"jcode/tools"
)

// hostVariable makes the test binary a process that runs the servers of a configuration
// file and then waits.
const hostVariable = "JCODE_MCP_TEST_HOST"

func hostMain() {
	dir := os.Getenv(hostVariable)
	if dir == "" {
		return
	}
	m := New(Options{Paths: config.Paths{ConfigDir: dir}, Registry: tools.NewRegistry(), Version: "host"})
	changes, _ := m.Watch()
	m.Start()
	for range changes {
		ready := true
		for _, d := range m.Snapshot() {
			ready = ready && d.State == StateConnected
		}
		if ready {
			break
		}
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil { // quit
		m.Close()
	}
	os.Exit(0)
}

// TestKilledHostLeavesNothing checks that no process of its servers is left after jcode was killed
// by SIGKILL or told to quit.
func TestKilledHostLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"kill", "quit"} {
		t.Run(how, func(t *testing.T) {
			if how == "kill" && runtime.GOOS == "windows" {
				t.Skip("covered by job objects")
			}
			r := newManagerRig(t, nil, nil)
			r.configure(map[string]any{"a": "ok", "b": "noeof", "c": "noeof-ignoreterm", "d": "grandchild", "e": "child-daemon"})
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			host := exec.CommandContext(t.Context(), self)
			host.Env = append(os.Environ(), hostVariable+"="+filepath.Dir(r.opt.Paths.UserFile()))
			in, err := host.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := host.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := host.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil || strings.TrimSpace(line) != "ready" {
				t.Fatalf("the host says %q, %v", line, err)
			}
			if how == "kill" {
				err = host.Process.Signal(syscall.SIGKILL)
			} else {
				err = in.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			_ = host.Wait() // killed
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				events, err := mcptest.ReadLog(filepath.Join(r.log, name+".log"))
				if err != nil || len(mcptest.Pids(events)) == 0 {
					t.Fatalf("%s: %d starts, %v", name, len(mcptest.Pids(events)), err)
				}
				waitLogGone(t, filepath.Join(r.log, name+".log"))
			}
		})
	}
}
