//go:build unix

package mcptest

import (
	"context"
	"os"
	"os/exec"
	"syscall"
)

// startChild starts a child that keeps the server's pipes open, in its own session if it is a daemon.
func startChild(s *server, daemon bool) {
	path, err := os.Executable()
	if err != nil {
		return
	}
	cmd := exec.CommandContext(context.Background(), path, "sleeper") // outlives the server on purpose
	cmd.Env = os.Environ()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if daemon {
		cmd.Stdin = nil
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if err := cmd.Start(); err == nil {
		s.log.add("child", "", nil)
	}
}
