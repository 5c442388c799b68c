//go:build !unix

package keyboard

import "time"

// readable waits for nothing: here nobody can say whether there is something to read.
func readable(uintptr, time.Duration) bool { return false }
