//go:build !linux

package proc

// threadID is 0 where threads can't be confined one by one.
func threadID() int { return 0 }
