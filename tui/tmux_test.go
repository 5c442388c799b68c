//go:build linux || darwin

package tui

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"jcode/internal/testkit/eventually"
	"jcode/tui/tuitest"
)

// tmux runs the program in a real terminal multiplexer.
type tmux struct {
	t      *testing.T
	socket string
}

func startTmux(t *testing.T, mode string) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := &tmux{t: t, socket: fmt.Sprintf("jcode-test-%d", os.Getpid())}
	shell := fmt.Sprintf("JCODE_TUI_CHILD=%s %q; echo exit=$?; exec cat", mode, self)
	cmd := exec.Command("tmux", "-L", m.socket, "-f", os.DevNull, "new-session", "-d", "-x", "80", "-y", "24", shell)
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "SHELL=/bin/sh") // the person's $SHELL may not exist
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("tmux does not start: %v: %s", err, out)
	}
	t.Cleanup(func() { m.run("kill-server") })
	return m
}

func (m *tmux) run(args ...string) string {
	out, err := exec.Command("tmux", append([]string{"-L", m.socket}, args...)...).CombinedOutput()
	if err != nil && args[0] != "kill-server" {
		m.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

func (m *tmux) see(texts ...string) string {
	m.t.Helper()
	screen := ""
	eventually.Within(m.t, tuitest.Limit, fmt.Sprintf("%q in tmux", texts), func() bool {
		screen = m.run("capture-pane", "-p")
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) })
	}, func() string { return screen })
	return screen
}

func TestInTmux(t *testing.T) {
	t.Parallel()
	m := startTmux(t, "busy")
	m.see("test/model", "›")
	m.run("send-keys", "-l", "한글 中文 👩‍👩‍👧 go")
	m.see("› 한글 中文 👩‍👩‍👧 go")
	m.run("send-keys", "Enter")
	m.see("line 12", "stops")
	m.run("resize-window", "-x", "40", "-y", "12")
	m.see("line 4", "stops")
	m.run("send-keys", "Escape")
	m.see("Interrupted.")
	m.run("send-keys", "-l", "/quit")
	m.see("› /quit")
	m.run("send-keys", "Enter")
	m.see("exit=0")
}
