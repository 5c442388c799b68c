//go:build !unix

package keyboard

import "time"

// readable does not wait: here the system cannot say whether there is something to read.
func readable(uintptr, time.Duration) bool { return false }
