//go:build !windows

package builtin

// systemShell is what runs a command where no shell is set.
func systemShell() []string { return []string{"/bin/sh", "-c"} }
