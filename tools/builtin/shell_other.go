//go:build !windows

package builtin

// systemShell is the shell that runs commands by default.
func systemShell() []string { return []string{"/bin/sh", "-c"} }

// bashes are the places of bash. The search path is not asked: a project may stand in it.
func bashes() []string { return []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"} }
