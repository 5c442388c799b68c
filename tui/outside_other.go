//go:build !unix

package tui

// canSuspend reports that there is no job control here.
func canSuspend() bool { return false }
