package atomicfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameAt renames, and replaces nothing but another name of the same file.
func renameAt(fromDir int, from string, toDir int, to string) error {
	err := unix.Renameat2(fromDir, from, toDir, to, unix.RENAME_NOREPLACE)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP):
	case errors.Is(err, unix.EEXIST) && sameEntry(fromDir, from, toDir, to):
	default:
		return err
	}
	return unix.Renameat(fromDir, from, toDir, to)
}

func sameEntry(fromDir int, from string, toDir int, to string) bool {
	var a, b unix.Stat_t
	return unix.Fstatat(fromDir, from, &a, unix.AT_SYMLINK_NOFOLLOW) == nil &&
		unix.Fstatat(toDir, to, &b, unix.AT_SYMLINK_NOFOLLOW) == nil && a.Dev == b.Dev && a.Ino == b.Ino
}
