package auth

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/internal/testkit/leaks"
	"jcode/internal/testkit/mcptest"
)

// secretServiceVariable makes the test binary run as a desktop session with a keyring of its own.
const secretServiceVariable = "JCODE_TEST_SECRET_SERVICE"

func TestMain(m *testing.M) {
	if os.Getenv(secretServiceVariable) != "" {
		os.Exit(m.Run()) // the library keeps its connection to the bus
	}
	leaks.Main(m)
}

// browser is a person whose browser follows every redirect at once.
type browser struct {
	mu     sync.Mutex
	visits []Visit
}

func (b *browser) Visit(ctx context.Context, v Visit) (string, error) {
	b.mu.Lock()
	b.visits = append(b.visits, v)
	b.mu.Unlock()
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, v.URL, nil)
	if err != nil {
		return "", err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	<-ctx.Done()
	return "", ctx.Err()
}

// pasting is a person whose browser runs on another machine.
type pasting func(last *url.URL) string

func (p pasting) Visit(ctx context.Context, v Visit) (string, error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.URL, nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	_ = resp.Body.Close()
	last, err := resp.Location()
	if err != nil {
		return "", err
	}
	return p(last), nil
}

// closing is a person who closes the dialog.
type closing struct{}

func (closing) Visit(context.Context, Visit) (string, error) { return "", ErrDeclined }

type rig struct {
	t      *testing.T
	k      *Keeper
	srv    *mcptest.OAuthServer
	server Server
}

func newRig(t *testing.T, mode string) *rig {
	t.Helper()
	srv := mcptest.NewOAuth(mode)
	t.Cleanup(srv.Close)
	return &rig{t: t, k: testKeeper(t.TempDir()), srv: srv, server: Server{Name: "s", URL: srv.Endpoint()}}
}

func testKeeper(dir string) *Keeper {
	k := NewKeeper(dir)
	k.getenv = func(name string) string {
		if name == "JCODE_MCP_TOKENS" {
			return "file"
		}
		return ""
	}
	k.pause = time.Millisecond
	return k
}

// signIn signs in as `jcode mcp login` does.
func (r *rig) signIn(p Person) error {
	r.t.Helper()
	need, err := r.k.Look(r.t.Context(), r.server)
	if err != nil {
		return err
	}
	if need == nil {
		r.t.Fatal("the server asks for nothing")
	}
	return r.k.SignIn(r.t.Context(), r.server, need, p)
}

func (r *rig) mustSignIn(p Person) {
	r.t.Helper()
	if err := r.signIn(p); err != nil {
		r.t.Fatal(err)
	}
}

// call sends a request as a connection does, and returns its status.
func (r *rig) call(s *Session) (int, error) {
	r.t.Helper()
	for tries := 0; ; tries++ {
		req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.server.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`))
		if err != nil {
			r.t.Fatal(err)
		}
		token, err := s.Authorize(r.t.Context(), req)
		if err != nil {
			return 0, err
		}
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Do(req)
		if err != nil {
			r.t.Fatal(err)
		}
		_ = resp.Body.Close()
		s.Heard(req, resp)
		again, err := s.Challenge(r.t.Context(), resp, token)
		if err != nil || !again {
			return resp.StatusCode, err
		}
		if tries == 3 {
			r.t.Fatal("it goes on and on")
		}
	}
}

// open reports whether the server accepts requests of a new connection.
func (r *rig) open() bool {
	r.t.Helper()
	status, err := r.call(r.k.For(r.server))
	return err == nil && status != http.StatusUnauthorized && status != http.StatusForbidden
}
