package remote

import (
	"errors"
	"net"
	"os"
)

// errNotAdmitted keeps a connection out.
var errNotAdmitted = errors.New("not admitted")

// Admit returns a check of who is at the other end of a connection: the same user, and no process that jcode started,
// since a command must not answer the question about itself. This process itself, whose session may serve the page, may.
func Admit(descends func(pid int) bool) func(net.Conn) error {
	return func(nc net.Conn) error {
		c, ok := nc.(*net.UnixConn)
		if !ok {
			return errNotAdmitted
		}
		own, pid, err := peer(c)
		if err != nil || !own || pid != os.Getpid() && descends(pid) {
			return errNotAdmitted
		}
		return nil
	}
}
