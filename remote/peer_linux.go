package remote

import (
	"net"

	"golang.org/x/sys/unix"
)

// Supported says that this system tells who is at the other end of a socket.
const Supported = true

// peer returns the user and the process at the other end of a socket.
func peer(nc *net.UnixConn) (uid, pid int, err error) {
	raw, err := nc.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cred *unix.Ucred
	var got error
	if err := raw.Control(func(fd uintptr) { cred, got = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return 0, 0, err
	}
	if got != nil {
		return 0, 0, got
	}
	return int(cred.Uid), int(cred.Pid), nil
}
