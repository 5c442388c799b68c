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
