package atomicfile

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// exchange exchanges two files of one folder in one step. It returns false, and does nothing, where the
// file system can't.
func exchange(root *os.Root, a, b string) (can bool, err error) {
	dir, err := root.Open(filepath.Dir(a))
	if err != nil {
		return false, err
	}
	defer func() { _ = dir.Close() }() // only a handle
	fd := int(dir.Fd())
	err = unix.Renameat2(fd, filepath.Base(a), fd, filepath.Base(b), unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return false, nil
	}
	return err == nil, err
}
