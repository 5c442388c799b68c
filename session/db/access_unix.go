//go:build unix

package db

import "golang.org/x/sys/unix"

// writable asks the kernel without opening the file: closing a second descriptor would
// drop the locks that the engine holds on it.
func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }
