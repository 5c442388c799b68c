//go:build unix

package worktree

import (
	"os/exec"
	"syscall"
)

// runGroup runs a command that leads a process group. When its context ends, the group is asked to end, so
// that git can clean up, and is killed after the command's WaitDelay, along with the filters that git
// started.
func runGroup(cmd *exec.Cmd) error {
	canceled := false
	cmd.Cancel = func() error {
		canceled = true
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	}
	err := cmd.Run()
	if canceled {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly nothing is left of it
	}
	return err
}
