//go:build !windows

package search

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// handle is an open folder. Everything below it is opened relative to it and without following links, so that
// nothing can be replaced by a way out.
type handle struct{ fd int }

// openTop opens the folder of a root.
func openTop(root *os.Root) (handle, error) {
	f, err := root.Open(".")
	if err != nil {
		return handle{}, err
	}
	defer func() { _ = f.Close() }() // a copy is kept
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return handle{}, os.NewSyscallError("fcntl", err)
	}
	return handle{fd}, nil
}

func (h handle) close() { _ = unix.Close(h.fd) } // only read

// folder opens a folder below h.
func (h handle) folder(path string) (handle, error) {
	if fd, ok, err := openBeneath(h.fd, path); ok {
		return handle{fd}, err
	}
	return h.stepwise(path)
}

// stepwise opens a folder one part at a time.
func (h handle) stepwise(path string) (handle, error) {
	at, err := openat(h.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return handle{}, err
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		fd, err := openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY)
		_ = unix.Close(at) // only a step on the way
		if err != nil {
			return handle{}, err
		}
		at = fd
	}
	return handle{at}, nil
}

func openat(at int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(at, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.EINTR) {
			return fd, err
		}
	}
}

// statKind looks up the kind of an entry that its folder does not report.
func (h handle) statKind(name string) kind {
	var st unix.Stat_t
	if unix.Fstatat(h.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return other
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return file
	case unix.S_IFDIR:
		return folder
	case unix.S_IFLNK:
		return link
	}
	return other
}

// reader is an opened file.
type reader struct{ fd int }

// file opens a regular file of the folder.
func (h handle) file(name string) (reader, error) {
	fd, err := openat(h.fd, name, unix.O_RDONLY)
	return reader{fd}, err
}

func (r reader) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(r.fd, p)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (r reader) close() { _ = unix.Close(r.fd) } // only read
