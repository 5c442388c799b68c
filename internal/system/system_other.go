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
	programPath     = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

func tempFolders() []string { return []string{"/tmp", "/var/tmp"} }

func managedFolder() (string, error) { return "/etc/jcode", nil }
