//go:build !linux

package system

import "os"

// Executable returns the path of this program.
func Executable() (string, error) { return os.Executable() }
