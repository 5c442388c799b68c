//go:build !unix

package mcptest

import (
	"context"
	"os"
	"os/exec"
)

func startChild(s *server, _ bool) {
	path, err := os.Executable()
	if err != nil {
		return
	}
	cmd := exec.CommandContext(context.Background(), path, "sleeper") // outlives the server on purpose
	cmd.Env = os.Environ()
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err == nil {
		s.log.add("child", "", nil)
	}
}
