//go:build unix && !linux

package worktree

import (
	"os/exec"
	"syscall"
)

// runChild runs a command. If this process is killed, the command ends by itself.
func runChild(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return runGroup(cmd)
}
