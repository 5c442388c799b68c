//go:build !linux && !darwin && !windows

package system

const (
	foldsNames      = false
	mayFoldNames    = true
	foldsVariables  = false
	hasModes        = true
	hasDrives       = false
	hasTTY          = true
	gnuTools        = false
	keyringNeedsBus = true
	shellName       = "sh"
)

func tempFolders() []string { return []string{"/tmp", "/var/tmp"} }
