//go:build linux && (amd64 || arm64)

package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reader reads folders one after the other; what it returns is good until the next. It makes nothing anew where
// nothing changed: a name goes from the system's list straight into the question about it.
type reader struct {
	list  []found
	names [1 << 15]byte
	stat  unix.Stat_t
}

// Where the parts of a name in the system's list are.
const (
	lengthAt = 16
	nameAt   = 19
)

// folder lists a folder in the order of the disk, beside what was in it. The folder is open, so the system need not
// find the way to it again for each name. What has gone meanwhile is left out.
func (r *reader) folder(path string, was listing) ([]found, error) {
	var fd int
	err := again(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }() // only read
	r.list = r.list[:0]
	before := follower{was: was}
	for {
		var n int
		err := again(func() (err error) { n, err = unix.Getdents(fd, r.names[:]); return err })
		if err != nil {
			return nil, &fs.PathError{Op: "readdir", Path: path, Err: err}
		}
		if n <= 0 {
			return r.list, nil
		}
		if !r.part(fd, r.names[:n], &before) {
			return nil, &fs.PathError{Op: "readdir", Path: path, Err: errors.New("its list is damaged")}
		}
	}
}

// part adds what a part of a folder's list names. It reports whether the list is sound.
func (r *reader) part(fd int, list []byte, before *follower) bool {
	for len(list) > 0 {
		if len(list) <= nameAt {
			return false
		}
		length := int(binary.NativeEndian.Uint16(list[lengthAt:]))
		if length <= nameAt || length > len(list) {
			return false
		}
		name := list[nameAt:length]
		end := bytes.IndexByte(name, 0)
		if end < 0 {
			return false
		}
		list = list[length:]
		if end == 0 || string(name[:end]) == "." || string(name[:end]) == ".." {
			continue
		}
		if r.ask(fd, name) {
			text, at := before.see(name[:end])
			r.list = append(r.list, found{text, statusOf(&r.stat), at})
		}
	}
	return true
}

// ask asks about a name, which ends with a zero byte, in an open folder.
func (r *reader) ask(fd int, name []byte) bool {
	for {
		//nolint:gosec // both are kept until the call returns
		_, _, fault := unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(fd), uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&r.stat)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
		if fault != unix.EINTR {
			return fault == 0
		}
	}
}
