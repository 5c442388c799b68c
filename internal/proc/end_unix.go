//go:build unix

package proc

import "syscall"

// endOf reads the status of a process that ended.
func endOf(status uint32) (code int, signal string, number int) {
	s := syscall.WaitStatus(status)
	if s.Signaled() {
		return -1, s.Signal().String(), int(s.Signal())
	}
	return s.ExitStatus(), "", 0
}
