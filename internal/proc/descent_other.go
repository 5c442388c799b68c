//go:build !linux && !darwin && !windows

package proc

// Descends reports whether a jcode started a process. Where that is not known, it is taken as such.
func Descends(int) bool { return true }
