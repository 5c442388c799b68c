package repository

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// identity returns what distinguishes a file from another one of the same name, and when it was last changed
// in any way, a time that no program can set.
func identity(info os.FileInfo) (id string, changed time.Time) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", time.Now()
	}
	return fmt.Sprint(st.Dev, ":", st.Ino), time.Unix(st.Ctim.Unix())
}
