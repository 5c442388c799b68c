//go:build !windows

package builtin

import (
	"errors"
	"syscall"
)

// openFlags keep the opening of a pipe that nobody writes to from waiting.
const openFlags = syscall.O_NONBLOCK

// notFolder reports that a part of a path that should be a folder is a file.
func notFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// crossDevice reports that a rename would lead to another file system.
func crossDevice(err error) bool { return errors.Is(err, syscall.EXDEV) }
