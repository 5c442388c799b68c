package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// Descends reports whether this process started another one, directly or not. A process whose parent has ended belongs
// to the system's first one, so one that detached itself is not found.
func Descends(pid int) bool {
	self := os.Getpid()
	for range 1000 { // a chain that is longer is none
		if pid <= 1 {
			return false
		}
		if pid == self {
			return true
		}
		info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
		if err != nil {
			return true // it has ended, or can't be seen: nothing that should be believed
		}
		pid = int(info.Eproc.Ppid)
	}
	return true
}
