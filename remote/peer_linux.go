package remote

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Supported says that this system tells who is at the other end of a socket.
const Supported = true

// peer returns the process at the other end of a socket, and whether it is this user's.
func peer(nc *net.UnixConn) (own bool, pid int, err error) {
	raw, err := nc.SyscallConn()
	if err != nil {
		return false, 0, err
	}
	var cred *unix.Ucred
	var got error
	if err := raw.Control(func(fd uintptr) { cred, got = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return false, 0, err
	}
	if got != nil {
		return false, 0, got
	}
	return int(cred.Uid) == os.Getuid(), int(cred.Pid), nil
}
