package modeltest

import (
	"net/http/httptest"
	"testing"
)

// Server is a Handler that listens on loopback for the length of one test.
type Server struct {
	*Handler
	http  *httptest.Server
	conns connections
}

// New starts a server that sends the replies in order, one per request. When the
// test ends it is closed, and the test fails for each breach of the validator and
// for each request beyond the script.
func New(tb testing.TB, replies ...Reply) *Server {
	tb.Helper()
	h := NewHandler(replies...)
	s := &Server{Handler: h, http: httptest.NewUnstartedServer(h)}
	s.http.Config.ConnState = s.conns.note
	s.http.Start()
	tb.Cleanup(func() {
		s.Close()
		for _, b := range h.Breaches() {
			tb.Errorf("modeltest: %s", b)
		}
	})
	return s
}

// URL returns the base URL for a client: it ends in /v1.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// Close ends every open stream and stops listening. It may be called twice.
func (s *Server) Close() {
	s.Stop()
	s.http.CloseClientConnections()
	s.http.Close()
}
