//go:build !unix

package tui

// platformClipboard are the clipboard tools that need no display variable.
var platformClipboard = [][]string{{"clip.exe"}}

// canSuspend reports that there is no job control here.
func canSuspend() bool { return false }
