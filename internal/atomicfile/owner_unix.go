//go:build !windows

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner sets the owner and group of f to those of old as far as the process may. Somebody
// else's file in a shared folder becomes ours, but keeps its group if we are a member of it.
func keepOwner(f *os.File, old fs.FileInfo) {
	want, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	info, err := f.Stat()
	if err != nil {
		return
	}
	have, ok := info.Sys().(*syscall.Stat_t)
	if !ok || have.Uid == want.Uid && have.Gid == want.Gid {
		return
	}
	if f.Chown(int(want.Uid), int(want.Gid)) != nil {
		_ = f.Chown(-1, int(want.Gid)) // without the right to set it, the content is more important
	}
}

// keepMode sets the permission, setuid, setgid and sticky bits.
func keepMode(f *os.File, mode fs.FileMode) error {
	return f.Chmod(mode & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky))
}

// syncDir makes a rename in dir survive a power cut.
func syncDir(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// rename moves a file over another one.
func rename(root *os.Root, from, to string) error { return root.Rename(from, to) }
