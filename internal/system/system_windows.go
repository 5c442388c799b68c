package system

const (
	foldsNames      = true
	mayFoldNames    = true
	foldsVariables  = true
	hasModes        = false
	hasDrives       = true
	hasTTY          = false
	gnuTools        = false
	keyringNeedsBus = false
	shellName       = "powershell"
	programPath     = ""
)

func tempFolders() []string { return nil }
