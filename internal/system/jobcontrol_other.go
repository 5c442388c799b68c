//go:build !unix

package system

// JobControl reports that there is no job control here.
func JobControl() bool { return false }
