//go:build unix

package session

import (
	"errors"
	"syscall"
)

// ended reports whether there is no process of a number any more.
func ended(pid int) bool {
	return pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
