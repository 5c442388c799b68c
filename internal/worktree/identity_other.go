//go:build !linux && !openbsd && !dragonfly && !solaris && !darwin && !freebsd && !netbsd

package worktree

import (
	"io/fs"
	"time"
)

// identity knows no number of a file, and no time of a change but the one that programs can set: then size and
// time say whether a file was changed.
func identity(info fs.FileInfo) (number string, changed time.Time) { return "", info.ModTime() }
