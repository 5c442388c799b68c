package paths

import (
	"path"
	"path/filepath"
	"strings"
)

// IsAddress reports whether a source of documents is a page's address, not a path.
func IsAddress(source string) bool {
	return strings.HasPrefix(source, "https://") || strings.HasPrefix(source, "http://")
}

// LeadsOut reports whether a source that is relative to a folder leads out of it, judged by its
// text: an address, an absolute path, one below a home folder, or one with "..".
func LeadsOut(source string) bool {
	slash := filepath.ToSlash(source)
	clean := path.Clean(slash)
	return IsAddress(source) || strings.HasPrefix(slash, "~") || filepath.IsAbs(source) || path.IsAbs(slash) || clean == ".." || strings.HasPrefix(clean, "../")
}
