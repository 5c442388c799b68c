//go:build unix

package owner

import (
	"io/fs"
	"syscall"
)

func ownerOf(info fs.FileInfo) (id int, known bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

func device(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev) //nolint:unconvert // its type differs between systems
	}
	return 0
}
