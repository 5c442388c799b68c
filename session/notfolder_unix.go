//go:build unix

package session

import (
	"errors"
	"syscall"
)

func notFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
