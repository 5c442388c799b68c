package endpoint

import (
	"syscall"
)

// giveUpUnacknowledged makes the kernel report a connection as broken when sent data is not acknowledged for
// a while; otherwise it retransmits for a quarter of an hour.
func giveUpUnacknowledged(_, _ string, conn syscall.RawConn) error {
	const (
		tcpUserTimeout = 18 // TCP_USER_TIMEOUT
		milliseconds   = 20_000
	)
	// A kernel that does not know the option behaves as before.
	return conn.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, milliseconds)
	})
}
