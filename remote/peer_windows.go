package remote

import (
	"net"
	"unsafe"

	"golang.org/x/sys/windows"

	"jcode/internal/proc"
)

// Supported says that this system tells who is at the other end of a socket.
const Supported = true

// askPeer is SIO_AF_UNIX_GETPEERPID: which process is at the other end of a socket.
const askPeer = 0x58000100

// peer returns the process at the other end of a socket, and whether it is this user's.
func peer(nc *net.UnixConn) (own bool, pid int, err error) {
	raw, err := nc.SyscallConn()
	if err != nil {
		return false, 0, err
	}
	var id, n uint32
	var got error
	if err := raw.Control(func(fd uintptr) {
		got = windows.WSAIoctl(windows.Handle(fd), askPeer, nil, 0, (*byte)(unsafe.Pointer(&id)), uint32(unsafe.Sizeof(id)), &n, nil, 0)
	}); err != nil {
		return false, 0, err
	}
	if got != nil {
		return false, 0, got
	}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, id)
	if err != nil {
		return false, 0, err
	}
	defer func() { _ = windows.CloseHandle(h) }() // only read
	own, err = proc.OwnProcess(h)
	return own, int(id), err
}
