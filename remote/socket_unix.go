//go:build unix

package remote

import (
	"io/fs"
	"os"
	"syscall"
)

// How a connection fails where nobody listens, and a socket on a system that has none of its kind.
const (
	connectionRefused = syscall.ECONNREFUSED
	noSuchSockets     = syscall.EAFNOSUPPORT
)

// keepFromOthers takes the rights of others to a folder.
func keepFromOthers(dir string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return os.Chmod(dir, 0o700)
}
