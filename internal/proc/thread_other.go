//go:build !linux

package proc

// threadID returns 0: threads can't be confined individually here.
func threadID() int { return 0 }
