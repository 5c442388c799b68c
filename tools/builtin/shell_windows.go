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

// bashes are the places of bash: here it is the shell already, where there is one.
func bashes() []string { return nil }
