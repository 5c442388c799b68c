//go:build darwin || freebsd || netbsd

package snapshot

import (
	"io/fs"
	"syscall"
)

// stampOf returns what the file system says of a version of a file.
func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), modified: info.ModTime().UnixNano(), mode: uint32(info.Mode())}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.node, s.changed = uint64(st.Ino), st.Ctimespec.Nano()
	}
	return s
}
