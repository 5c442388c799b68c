//go:build unix

package atomicfile

import (
	"io/fs"
	"syscall"
)

// links returns the number of names of a file.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // its size differs between systems
	}
	return 1
}
