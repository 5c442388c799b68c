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
	programPath     = "/usr/bin:/bin:/usr/sbin:/sbin"
)

func tempFolders() []string { return []string{"/tmp", "/var/tmp", "/private/tmp"} }

func managedFolder() (string, error) { return "/Library/Application Support/jcode", nil }
