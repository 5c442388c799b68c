//go:build !windows

package paths

import "syscall"

// NoWait keeps the opening of a pipe from waiting for a writer.
const NoWait = syscall.O_NONBLOCK
