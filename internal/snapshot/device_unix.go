//go:build unix

package snapshot

import (
	"io/fs"
	"syscall"
)

// deviceOf returns the file system that a folder is on.
func deviceOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev) //nolint:unconvert,gosec // its type differs between systems
	}
	return 0
}
