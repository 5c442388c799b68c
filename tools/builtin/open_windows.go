package builtin

import (
	"errors"
	"os"
	"syscall"
)

const openFlags = 0

// notFolder reports whether an error says that a folder in a path is a file.
func notFolder(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ERROR_PATH_NOT_FOUND)
}

// crossDevice reports whether an error says that a rename would lead to another volume
// (ERROR_NOT_SAME_DEVICE).
func crossDevice(err error) bool { return errors.Is(err, syscall.Errno(17)) }

// rename moves a file or folder.
func rename(from, to place) error {
	if from.root == to.root {
		return from.root.Rename(from.name, to.name)
	}
	return os.Rename(from.abs, to.abs)
}
