//go:build !windows && !linux

package search

import (
	"os"

	"golang.org/x/sys/unix"
)

// openBeneath exists only on Linux.
func openBeneath(int, string) (fd int, ok bool, err error) { return 0, false, nil }

// list returns the entries of the folder, in the system's order.
func (h handle) list([]byte) ([]entry, error) {
	fd, err := openat(h.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "folder")
	names, err := f.Readdirnames(-1)
	_ = f.Close() // only read
	out := make([]entry, len(names))
	for i, n := range names {
		out[i] = entry{n, h.statKind(n)}
	}
	return out, err
}
