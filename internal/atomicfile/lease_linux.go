package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// leaseOf asks to be told before another program opens a file to write into it: as long as the lease is
// held its opening waits. busy says that one has the file open for writing now; on file systems without
// leases there is neither.
func leaseOf(f *os.File) (held, busy bool) {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return err == nil, errors.Is(err, unix.EAGAIN)
}

// leaseWanted reports whether another program waits to open the file for writing. Closing it lets that go on.
func leaseWanted(f *os.File) bool {
	kind, err := unix.FcntlInt(f.Fd(), unix.F_GETLEASE, 0)
	return err == nil && kind != unix.F_RDLCK
}
