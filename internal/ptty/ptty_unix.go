//go:build linux || darwin

package ptty

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Supported says that this system has pseudo terminals which jcode can use.
const Supported = true

// Open returns both sides of a new terminal. A read of the master can be ended by closing it: the library leaves it
// in blocking mode, where a reader keeps it open until the program writes something, and a closed window would be
// noticed by the program only then.
func Open() (master, slave *os.File, err error) {
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

// SetSize sets the size of a terminal, in cells, without changing its mode, which (*os.File).Fd may do.
func SetSize(f *os.File, cols, rows int) error {
	return control(f, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(cols)})
	})
}

// Foreground returns the process group that reads what is typed into the terminal of a master.
func Foreground(master *os.File) (group int, err error) {
	err = control(master, func(fd int) (err error) {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	return group, err
}

// Mode reports whether the terminal of a master shows what is typed, and whether it passes it on by lines.
func Mode(master *os.File) (echo, lines bool, err error) {
	err = control(master, func(fd int) error {
		t, err := unix.IoctlGetTermios(fd, getTermios)
		if err == nil {
			echo, lines = t.Lflag&unix.ECHO != 0, t.Lflag&unix.ICANON != 0
		}
		return err
	})
	return echo, lines, err
}

// control calls f with the descriptor of a file, without changing its mode.
func control(file *os.File, f func(fd int) error) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return fmt.Errorf("pty: %w", err)
	}
	var failed error
	if err := errors.Join(conn.Control(func(fd uintptr) { failed = f(int(fd)) }), failed); err != nil {
		return fmt.Errorf("pty: %w", err)
	}
	return failed
}

// inherited is the descriptor of the master in a program that Background starts.
const inherited = 3

// Background starts a program, with further variables, on a terminal of its own, which it holds itself: it goes on when this process and its
// terminal end. The caller closes both sides.
func Background(master, slave *os.File, program string, args, env []string, dir string) (*exec.Cmd, error) {
	cmd := exec.Command(program, args...) //nolint:noctx // no context ends it: it goes on
	cmd.Args[0] = os.Args[0]              // under the name of this one
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.ExtraFiles = []*os.File{master}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return cmd, cmd.Start()
}

// Inherited returns the master of the terminal on which Background started this program. Its children do not get it.
func Inherited() (*os.File, error) {
	unix.CloseOnExec(inherited)
	if err := unix.SetNonblock(inherited, true); err != nil {
		return nil, fmt.Errorf("the terminal in the background: %w", err)
	}
	return os.NewFile(inherited, "pty"), nil
}

// Release lets go of the program's side of the terminal: what is printed from now on goes nowhere.
func Release() error {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("let go of the terminal: %w", err)
	}
	for fd := range inherited { // standard input, output and error
		err = errors.Join(err, duplicate(null, fd))
	}
	return errors.Join(err, unix.Close(null))
}
