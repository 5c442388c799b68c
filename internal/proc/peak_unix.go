//go:build unix

package proc

import (
	"os"
	"syscall"
)

// peakMemory returns the peak resident memory of an ended process, in bytes.
func peakMemory(state *os.ProcessState) int64 {
	u, ok := state.SysUsage().(*syscall.Rusage)
	if !ok || u == nil {
		return 0
	}
	return int64(u.Maxrss) * maxrssUnit
}

// ownPeak returns this program's own peak memory in bytes.
func ownPeak() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return int64(u.Maxrss) * maxrssUnit
}
