//go:build unix

package folders

import (
	"io/fs"
	"syscall"
)

// identity is what makes a folder the same under several names.
type identity struct {
	device, node uint64
	path         string
}

func identify(path string, info fs.FileInfo) identity {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return identity{device: uint64(st.Dev), node: st.Ino} //nolint:unconvert,gosec // its type differs between systems
	}
	return identity{path: path}
}
