//go:build !unix

package folders

import (
	"io/fs"
	"path/filepath"
)

// identity is what makes a folder the same under several names: its resolved path.
type identity string

func identify(path string, _ fs.FileInfo) identity {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return identity(real)
	}
	return identity(path)
}
