package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// openBeneath opens a folder by a path of several parts in one call, following no link. ok is false if the
// kernel lacks that call.
func openBeneath(at int, path string) (fd int, ok bool, err error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	}
	if path == "" {
		path = "."
	}
	for {
		fd, err = unix.Openat2(at, path, &how)
		switch {
		case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.EAGAIN):
		case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EPERM):
			return 0, false, nil
		default:
			return fd, true, err
		}
	}
}

// Offsets of the fields of a directory entry, from getdents64(2).
const (
	direntLen  = 16
	direntType = 18
	direntName = 19
)

// list returns the entries of the folder, in the system's order. buf is scratch space. A handle can be listed
// once: the call advances in the folder.
func (h handle) list(buf []byte) ([]entry, error) {
	var out []entry
	for {
		n, err := unix.Getdents(h.fd, buf)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return out, err
		}
		for rest := buf[:n]; len(rest) > direntName; {
			size := int(binary.NativeEndian.Uint16(rest[direntLen:]))
			if size < direntName || size > len(rest) {
				return out, syscall.EIO
			}
			name := rest[direntName:size]
			if i := bytes.IndexByte(name, 0); i >= 0 {
				name = name[:i]
			}
			if string(name) != "." && string(name) != ".." {
				out = append(out, h.entry(string(name), rest[direntType]))
			}
			rest = rest[size:]
		}
	}
}

func (h handle) entry(name string, kind byte) entry {
	switch kind {
	case unix.DT_REG:
		return entry{name, file}
	case unix.DT_DIR:
		return entry{name, folder}
	case unix.DT_LNK:
		return entry{name, link}
	case unix.DT_UNKNOWN:
		return entry{name, h.statKind(name)}
	}
	return entry{name, other}
}
