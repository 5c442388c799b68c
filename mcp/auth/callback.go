package auth

import (
	"context"
	"crypto/subtle"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// callback is the loopback server that the browser is redirected to.
type callback struct {
	server  *http.Server
	state   string // of the sign-in that it waits for
	answers chan url.Values
	ended   chan struct{}
}

// listen starts the callback server at a port; 0 means the port of an earlier registration, or
// any free one. Whatever comes without the state of this sign-in is not its answer.
func listen(ctx context.Context, state string, port int, earlier string) (*callback, string, error) {
	if u, err := url.Parse(earlier); port == 0 && err == nil {
		if n, err := strconv.Atoi(u.Port()); err == nil {
			port = n
		}
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil && earlier != "" {
		l, err = config.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, "", fmt.Errorf("wait for the browser on this machine: %w", err)
	}
	c := &callback{state: state, answers: make(chan url.Values, 1), ended: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", c.serve)
	c.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(c.ended)
		_ = c.server.Serve(l) // until it is closed
	}()
	return c, "http://" + l.Addr().String() + "/callback", nil
}

func (c *callback) serve(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Connection", "close")
	if !q.Has("code") && !q.Has("error") {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "This page is only used at the end of a sign-in.\n") // the browser may be gone
		return
	}
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(c.state)) != 1 {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "This is the answer to another sign-in (the state differs). jcode still waits for its own.\n") // the browser may be gone
		return
	}
	_, _ = io.WriteString(w, "jcode has received the answer. You can close this page.\n") // the browser may be gone
	select {
	case c.answers <- q:
	default: // only the first answer counts
	}
}

func (c *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close() // a browser may keep its connection open
	}
	<-c.ended
}
