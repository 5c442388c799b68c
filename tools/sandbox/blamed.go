package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// BlamedForReading says why the failure of a read-only command that ran in dir looks like an effect of its
// confinement; "" when it doesn't. A file that this process can't read either is its own reason.
func (b *Box) BlamedForReading(tail string, code int, dir string) string {
	if code == 0 {
		return ""
	}
	for line := range strings.Lines(tail) {
		low := strings.ToLower(line)
		for _, s := range []string{"permission denied", "operation not permitted", "read-only file system", "eacces", "eperm", "could not resolve host", "network is unreachable", "cannot find name for user", "cannot find name for group"} {
			if strings.Contains(low, s) && !unreadable(line, dir) {
				return "it was denied something that only reading does not need (" + s + ")"
			}
		}
	}
	return ""
}

// unreadable reports whether a message names a file that this process can't read itself.
func unreadable(line, dir string) bool {
	for _, name := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n:'\"`‘’", r) }) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		info, err := os.Stat(name)
		if err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			var f *os.File
			if f, err = os.Open(name); err == nil {
				_ = f.Close() // only read
			}
		}
		if os.IsPermission(err) {
			return true
		}
	}
	return false
}
