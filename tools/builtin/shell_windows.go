package builtin

import "os/exec"

// systemShell is the shell that runs commands by default.
func systemShell() []string {
	for _, name := range []string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path, "-c"}
		}
	}
	return []string{"cmd", "/c"}
}
