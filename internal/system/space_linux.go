package system

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// AddressSpace returns the limit of this process's address space (ulimit -v) and what is left of it, in bytes; limited
// is false without a limit.
func AddressSpace() (limit, left uint64, limited bool) {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &r) != nil || r.Cur == unix.RLIM_INFINITY {
		return 0, 0, false
	}
	line, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0, false
	}
	pages, _, _ := bytes.Cut(line, []byte(" "))
	used, err := strconv.ParseUint(string(pages), 10, 64)
	if err != nil {
		return 0, 0, false
	}
	used *= uint64(os.Getpagesize())
	return r.Cur, r.Cur - min(used, r.Cur), true
}
