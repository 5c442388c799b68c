//go:build unix && !linux

package atomicfile

import "golang.org/x/sys/unix"

// renameAt renames. The caller has looked whether it replaces something.
func renameAt(fromDir int, from string, toDir int, to string) error {
	return unix.Renameat(fromDir, from, toDir, to)
}
