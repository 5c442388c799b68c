//go:build linux || darwin

package terminal

import (
	"errors"
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// openPty returns both sides of a new terminal. A read of the master can be ended by closing it: the library leaves it
// in blocking mode, where a reader keeps it open until the program writes something, and a closed window would be
// noticed by the program only then.
func openPty() (master, slave *os.File, err error) {
	blocking, slave, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open pty: %w", err)
	}
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err = errors.Join(err, blocking.Close()); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open pty: %w", err), slave.Close())
	}
	return os.NewFile(uintptr(fd), "pty"), slave, nil
}

// setSize sets the size of a terminal without changing its mode, which (*os.File).Fd may do.
func setSize(master *os.File, cols, rows int) error {
	conn, err := master.SyscallConn()
	if err != nil {
		return fmt.Errorf("set size of pty: %w", err)
	}
	var set error
	err = conn.Control(func(fd uintptr) {
		set = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(cols)})
	})
	if err := errors.Join(err, set); err != nil {
		return fmt.Errorf("set size of pty: %w", err)
	}
	return nil
}
