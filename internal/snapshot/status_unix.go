//go:build unix

package snapshot

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// lstat returns the status of a path.
func lstat(path string) (status, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Lstat(path, &st) }); err != nil {
		return status{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return statusOf(&st), nil
}

// again repeats a question that a signal interrupted.
func again(ask func() error) error {
	for {
		if err := ask(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

//nolint:unconvert,gosec // the types differ between systems
func statusOf(st *unix.Stat_t) status {
	mode := fs.FileMode(uint32(st.Mode) & 0o777)
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	default:
		mode |= fs.ModeIrregular
	}
	if uint32(st.Mode)&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if uint32(st.Mode)&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if uint32(st.Mode)&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return status{mode, uint64(st.Dev), stamp{int64(st.Size), st.Mtim.Nano(), st.Ctim.Nano(), uint64(st.Ino), uint32(mode)}}
}
