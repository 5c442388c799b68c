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
	programPath     = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

func tempFolders() []string { return []string{"/tmp", "/var/tmp", "/dev/shm"} }

func managedFolder() (string, error) { return "/etc/jcode", nil }
