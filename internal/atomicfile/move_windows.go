package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// CrossDevice reports whether an error says that a move would lead to another volume (ERROR_NOT_SAME_DEVICE).
func CrossDevice(err error) bool { return errors.Is(err, syscall.Errno(17)) }

// Move renames from one opened folder to another.
func Move(from *os.Root, name string, to *os.Root, newName string) error {
	if from == to {
		return from.Rename(name, newName)
	}
	return os.Rename(filepath.Join(from.Name(), name), filepath.Join(to.Name(), newName))
}
