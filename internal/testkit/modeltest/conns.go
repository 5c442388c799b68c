package modeltest

import (
	"net"
	"net/http"
	"sync/atomic"
)

// connections counts accepted connections.
type connections struct{ n atomic.Int64 }

func (c *connections) note(_ net.Conn, state http.ConnState) {
	if state == http.StateNew {
		c.n.Add(1)
	}
}

// Connections counts the connections that clients have opened so far.
func (s *Server) Connections() int { return int(s.conns.n.Load()) }
