package worktree

import "os/exec"

// runChild runs a command. If this process is killed, the command ends by itself.
func runChild(cmd *exec.Cmd) error { return cmd.Run() }
