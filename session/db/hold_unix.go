//go:build unix

package db

import (
	"errors"
	"syscall"
)

// ended reports whether no process has the number any more.
func ended(pid int) bool {
	return pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
