//go:build !linux

package atomicfile

import "os"

// exchange can't exchange two files in one step here.
func exchange(*os.Root, string, string) (can bool, err error) { return false, nil }
