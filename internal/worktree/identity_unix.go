//go:build linux || openbsd || dragonfly || solaris

package worktree

import (
	"io/fs"
	"strconv"
	"syscall"
	"time"
)

// identity returns the number of a file, and when it was last changed in any way, a time that no program can
// set.
func identity(info fs.FileInfo) (number string, changed time.Time) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", time.Now()
	}
	return strconv.FormatUint(st.Ino, 36), time.Unix(st.Ctim.Unix())
}
