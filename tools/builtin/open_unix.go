//go:build !windows

package builtin

import (
	"errors"
	"os"
	"syscall"
)

// openFlags keep the opening of a pipe from waiting for a writer.
const openFlags = syscall.O_NONBLOCK

// notFolder reports whether an error says that a folder in a path is a file.
func notFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// crossDevice reports whether an error says that a rename would lead to another file system.
func crossDevice(err error) bool { return errors.Is(err, syscall.EXDEV) }

// rename moves between two opened folders, so that no link on the way is followed.
func rename(from, to place) (err error) {
	a, err := from.root.Open(".")
	if err != nil {
		return err
	}
	b, err := to.root.Open(".")
	if err != nil {
		return errors.Join(err, a.Close())
	}
	err = renameAt(int(a.Fd()), from.name, int(b.Fd()), to.name)
	_, _ = a.Close(), b.Close() // only handles
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from.name, New: to.name, Err: err}
	}
	return nil
}
