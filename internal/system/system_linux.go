package system

const (
	foldsNames      = false
	mayFoldNames    = false
	foldsVariables  = false
	hasModes        = true
	hasDrives       = false
	hasTTY          = true
	gnuTools        = true
	keyringNeedsBus = true
	shellName       = "sh"
)

func tempFolders() []string { return []string{"/tmp", "/var/tmp", "/dev/shm"} }
