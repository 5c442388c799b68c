//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// CrossDevice reports whether an error says that a move would lead to another file system.
func CrossDevice(err error) bool { return errors.Is(err, syscall.EXDEV) }

// Move renames from one opened folder to another, so that no link on the way is followed. Where the system can, nothing
// is replaced.
func Move(from *os.Root, name string, to *os.Root, newName string) error {
	a, err := from.Open(".")
	if err != nil {
		return err
	}
	b, err := to.Open(".")
	if err != nil {
		return errors.Join(err, a.Close())
	}
	err = renameAt(int(a.Fd()), name, int(b.Fd()), newName)
	_, _ = a.Close(), b.Close() // only handles
	if err != nil {
		return &os.LinkError{Op: "rename", Old: name, New: newName, Err: err}
	}
	return nil
}
