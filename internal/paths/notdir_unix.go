//go:build !windows

package paths

import (
	"errors"
	"syscall"
)

// NotDir reports whether an error says that a folder in a path is a file.
func NotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
