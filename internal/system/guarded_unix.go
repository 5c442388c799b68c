//go:build !windows

package system

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

func systemShell() []string { return []string{"/bin/sh", "-c"} }

func guarded(path string, owner int) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	read, kind := os.FileMode(0o444), "644"
	if info.IsDir() {
		read, kind = 0o555, "755"
	}
	switch mode := info.Mode(); {
	case mode&os.ModeSymlink != 0:
		return errors.New("is a link: put the file itself there")
	case !ok || int(st.Uid) != owner:
		return fmt.Errorf("must belong to user %d (chown)", owner)
	case mode.Perm()&0o022 != 0:
		return fmt.Errorf("can be changed by others than its owner (chmod %s)", kind)
	case mode.Perm()&read != read:
		return fmt.Errorf("can't be read by all users (chmod %s)", kind)
	}
	return nil
}
