package worktree

import (
	"os/exec"
	"runtime"
	"syscall"
)

// runChild runs a command that ends with this process, however that ends: no git must be left to write into a
// copy that a later run uses. It is asked to end, so that it removes a copy it has just begun: a git that is
// killed there leaves an entry at which every later "git worktree list" fails. Linux reacts to the end of the
// thread that started the command, which is why the thread is kept.
func runChild(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
	return runGroup(cmd)
}
