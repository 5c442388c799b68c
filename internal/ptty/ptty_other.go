//go:build !linux && !darwin

package ptty

import (
	"errors"
	"os"
	"os/exec"
)

// Supported says that this system has pseudo terminals which jcode can use.
const Supported = false

// Open says that there are no terminals to be made here.
func Open() (master, slave *os.File, err error) { return nil, nil, errors.ErrUnsupported }

// SetSize does nothing here.
func SetSize(*os.File, int, int) error { return errors.ErrUnsupported }

// Foreground knows nothing here.
func Foreground(*os.File) (int, error) { return 0, errors.ErrUnsupported }

// Mode knows nothing here.
func Mode(*os.File) (echo, lines bool, err error) { return false, false, errors.ErrUnsupported }

// Background starts nothing here.
func Background(*os.File, *os.File, string, []string, []string, string) (*exec.Cmd, error) {
	return nil, errors.ErrUnsupported
}

// Inherited returns nothing here.
func Inherited() (*os.File, error) { return nil, errors.ErrUnsupported }

// Release does nothing here.
func Release() error { return errors.ErrUnsupported }
