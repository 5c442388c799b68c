package proc

import (
	"bytes"
	"os"
)

// Descends reports whether a jcode started a process, directly or not: this process is among its ancestors, or it or one
// of them has the mark that every child of a jcode gets in its environment.
func Descends(pid int) bool {
	self := os.Getpid()
	for range 1000 { // a chain that is longer is none
		if pid <= 1 {
			return false
		}
		if pid == self {
			return true
		}
		if hasVariable(environment(pid), markerName) {
			return true
		}
		s, ok := readStat(pid)
		if !ok {
			return true // it has ended, or can't be seen: nothing that should be believed
		}
		pid = s.parent
	}
	return true
}

func hasVariable(env []byte, name string) bool {
	return bytes.HasPrefix(env, []byte(name+"=")) || bytes.Contains(env, []byte("\x00"+name+"="))
}
