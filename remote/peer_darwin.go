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
	var cred *unix.Xucred
	var errs [2]error
	err = raw.Control(func(fd uintptr) {
		cred, errs[0] = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		pid, errs[1] = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	for _, e := range append(errs[:], err) {
		if e != nil {
			return false, 0, e
		}
	}
	return int(cred.Uid) == os.Getuid(), pid, nil
}
