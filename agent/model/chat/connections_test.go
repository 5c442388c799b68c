package chat_test

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/modeltest"
)

// swallower forwards TCP connections. Once it swallows, the connections that are open stay open,
// but nothing passes any more, as after a change of network.
type swallower struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	epoch int
	conns []net.Conn
}

func newSwallower(t *testing.T, target string) *swallower {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &swallower{listener: l, target: target}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { s.forward(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.mu.Lock()
		for _, c := range s.conns {
			_ = c.Close()
		}
		s.mu.Unlock()
		wg.Wait()
	})
	return s
}

func (s *swallower) forward(client net.Conn) {
	server, err := net.Dial("tcp", s.target)
	if err != nil {
		_ = client.Close()
		return
	}
	s.mu.Lock()
	epoch := s.epoch
	s.conns = append(s.conns, client, server)
	s.mu.Unlock()
	var wg sync.WaitGroup
	pipe := func(to, from net.Conn) {
		buf := make([]byte, 32<<10)
		for {
			n, err := from.Read(buf)
			s.mu.Lock()
			dead := s.epoch != epoch
			s.mu.Unlock()
			if n > 0 && !dead {
				_, _ = to.Write(buf[:n])
			}
			if err != nil {
				if !dead {
					_ = to.Close()
				}
				return
			}
		}
	}
	wg.Go(func() { pipe(server, client) })
	pipe(client, server)
	wg.Wait()
}

func (s *swallower) swallow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
}

func TestAConnectionThatDiedInSilenceCostsOneAttemptAtMost(t *testing.T) {
	for name, h2 := range map[string]bool{"HTTP/1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			h := modeltest.NewHandler(modeltest.Text("ok").Forever())
			srv := httptest.NewUnstartedServer(h)
			srv.Config.ErrorLog = log.New(io.Discard, "", 0)
			srv.EnableHTTP2 = h2
			srv.StartTLS()
			defer func() { h.Stop(); srv.CloseClientConnections(); srv.Close() }()
			cert := filepath.Join(t.TempDir(), "ca.pem")
			block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
			if err := os.WriteFile(cert, block, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("NODE_EXTRA_CA_CERTS", cert)
			forward := newSwallower(t, srv.Listener.Addr().String())
			client := newClient(t, "https://"+forward.listener.Addr().String()+"/v1", func(c *provider.Config) { c.Limits.Idle = 2 * time.Second })
			if _, _, err := stream(t, client, ask("one")); err != nil {
				t.Fatal(err)
			}
			forward.swallow()
			began := time.Now()
			resp, s, err := stream(t, client, ask("two"))
			if err != nil || resp.Text != "ok" || len(s.waits) > 1 {
				t.Errorf("%q after %v and %d retries: %v", resp.Text, time.Since(began), len(s.waits), err)
			}
		})
	}
}

func TestAProxyThatFailsIsNamedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	// http.ProxyFromEnvironment reads the environment once per process: the proxy is set by a
	// client that knows none of it, so the words are tested where they are made.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	proxy := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusProxyAuthRequired)
		_, _ = io.WriteString(w, "<html><title>Proxy</title></html>")
	})
	srv := &http.Server{Handler: proxy, ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(l) }()
	defer func() { _ = srv.Close() }()
	_, _, err = stream(t, newClient(t, "http://"+l.Addr().String()+"/v1"), ask("x"))
	if e := classOf(t, err); e.Class != model.ClassNetwork || !strings.Contains(e.Text, "wants a user and a password") || strings.Contains(e.Text, "<") {
		t.Errorf("%v", err)
	}
}

func TestCertificatesOfACompanyAreReadFromTheFileOfOtherTools(t *testing.T) {
	h := modeltest.NewHandler(modeltest.Text("ok").Forever())
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	srv.StartTLS()
	defer func() { h.Stop(); srv.CloseClientConnections(); srv.Close() }()
	broken := filepath.Join(t.TempDir(), "none.pem")
	t.Setenv("NODE_EXTRA_CA_CERTS", broken)
	_, _, err := stream(t, newClient(t, srv.URL+"/v1"), ask("x"))
	if e := classOf(t, err); !strings.Contains(e.Text, "SSL_CERT_FILE") || !strings.Contains(e.Text, "none.pem") {
		t.Errorf("%v", err)
	}
	checks := dial.Endpoint(t.Context(), provider.Config{BaseURL: srv.URL + "/v1", Limits: quick}, "m")
	if said := checks[1]; said.Name != "certificates" || said.OK || !strings.Contains(said.Detail, "none.pem") {
		t.Errorf("%+v", checks)
	}
}

func TestAByteOrderMarkBeforeAStreamIsSkipped(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 5} {
		resp, _ := mustStream(t, modeltest.Raw("\xef\xbb\xbfdata: "+modeltest.TextChunk("first ")+"\n\ndata: "+modeltest.TextChunk("second")+"\n\ndata: [DONE]\n\n").Pieces(n))
		if resp.Text != "first second" {
			t.Errorf("in pieces of %d: %q", n, resp.Text)
		}
	}
}
