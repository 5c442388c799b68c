package system

import "os"

// Executable returns a path of this program that stays valid when the file is replaced by an update.
func Executable() (string, error) {
	if _, err := os.Stat("/proc/self/exe"); err == nil {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}
