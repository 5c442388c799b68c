//go:build !windows

package builtin

// systemShell is the shell that runs commands by default.
func systemShell() []string { return []string{"/bin/sh", "-c"} }
