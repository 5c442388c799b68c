package paths

import "path/filepath"

// CutHome returns what follows ~/ in a path; ok is false for another path.
func CutHome(p string) (rest string, ok bool) {
	if len(p) > 1 && p[0] == '~' && (p[1] == '/' || p[1] == filepath.Separator) {
		return p[2:], true
	}
	return p, false
}
