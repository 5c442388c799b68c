package system

const (
	foldsNames      = true
	mayFoldNames    = true
	foldsVariables  = false
	hasModes        = true
	hasDrives       = false
	hasTTY          = true
	gnuTools        = false
	keyringNeedsBus = false
	shellName       = "sh"
)

func tempFolders() []string { return []string{"/tmp", "/var/tmp", "/private/tmp"} }
