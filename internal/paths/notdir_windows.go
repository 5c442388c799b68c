package paths

import (
	"errors"
	"syscall"
)

// notDir reports that a part of a path that should be a folder is a file.
func notDir(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ERROR_PATH_NOT_FOUND)
}
