package worktree

import (
	"os/exec"
	"runtime"
	"syscall"
)

// runChild runs a command that ends with this process, however that ends: no git is left to
// write into a copy that a later run looks at. Linux counts from the end of the thread that
// started the command, which is why it is kept. With its context end the filters that it started,
// too.
func runChild(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Run()
}
