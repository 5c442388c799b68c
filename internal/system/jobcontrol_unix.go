//go:build unix

package system

import (
	"os"

	"golang.org/x/sys/unix"
)

// JobControl reports whether a shell with job control waits for this process: its parent is in the same
// session and leads another process group.
func JobControl() bool {
	parent := os.Getppid()
	own, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	theirs, err := unix.Getsid(parent)
	if err != nil || own != theirs {
		return false
	}
	group, err := unix.Getpgid(parent)
	return err == nil && group != unix.Getpgrp()
}
