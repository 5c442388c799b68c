package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/mcptest"
	"jcode/mcp/config"
	"jcode/mcp/wire"
)

func urlEntry(url string, headers map[string]string) config.Entry {
	e := config.NewEntry("s")
	e.Target = config.Target{Type: config.HTTP, URL: url, Headers: headers}
	e.ConnectTimeout = patience
	return e
}

func httpServer(t *testing.T, mode string) *mcptest.HTTPServer {
	s := mcptest.NewHTTP(mode)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func dialHTTP(t *testing.T, mode string) (*mcptest.HTTPServer, dialed) {
	t.Helper()
	server := httpServer(t, mode)
	r := newStdioRig(t)
	d, err := r.dial(urlEntry(server.Endpoint(), map[string]string{"X-Key": "k3y-value"}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.end(d.session) })
	return server, d
}

func TestHTTPServersConnect(t *testing.T) {
	t.Parallel()
	for mode, limit := range map[string]time.Duration{"ok": 0, "sse": 0, "stateless": 0, "get405": 0, "get404": 0, "getclose": 0, "text400-discover": 0, "silent-discover": 3 * time.Second, "sse2024": 0} {
		t.Run(mode, func(t *testing.T) {
			began := time.Now()
			server, d := dialHTTP(t, mode)
			if took := time.Since(began); took > limit+late {
				t.Errorf("connect took %v", took)
			}
			for i := range 3 {
				if got := callText(t, d.session, "echo", fmt.Sprintf(`{"text":"%d"}`, i)); got != fmt.Sprint("echo: ", i) {
					t.Errorf("got %q", got)
				}
			}
			for _, req := range server.Requests() {
				if req.Header.Get("X-Key") != "k3y-value" {
					t.Errorf("%s %s came without the configured header", req.Method, req.RPC)
				}
			}
		})
	}
}

// The error of a refusal names the header that was sent and what to do.
func TestRefusedCredentialsAreCalledSo(t *testing.T) {
	t.Parallel()
	for want, headers := range map[string]map[string]string{
		"(the Authorization header that is set was refused)": {"authorization": "Bearer old"},
		"(the header X-Api-Key that is set was refused)":     {"X-API-Key": "old"},
		"(set an Authorization header)":                      {"X-Trace": "1"},
	} {
		for _, mode := range []string{"status=401", "status=403"} {
			server := httpServer(t, mode)
			_, err := newStdioRig(t).dial(urlEntry(server.Endpoint(), headers))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s with %v: %v", mode, headers, err)
			}
		}
	}
}

func TestHTTPRefusals(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct {
		text  string
		retry wire.Retry
	}{
		"status=401": {"401 Unauthorized: token expired (set an Authorization header)", wire.RetryNever},
		"status=403": {"403 Forbidden: token expired", wire.RetryNever},
		"status=404": {"404 Not Found: token expired", wire.RetryNever},
		"status=500": {"500 Internal Server Error: token expired", wire.RetryLost},
		"html":       {"this is not an MCP endpoint: it answered text/html", wire.RetryNever},
	} {
		t.Run(mode, func(t *testing.T) {
			server := httpServer(t, mode)
			_, err := newStdioRig(t).dial(urlEntry(server.Endpoint(), nil))
			if err == nil || !strings.Contains(err.Error(), want.text) || wire.RetryOf(err) != want.retry {
				t.Errorf("%v (retry %d)", err, wire.RetryOf(err))
			}
		})
	}
}

func TestForgottenSessionIsRenewedAndTheCallRunsOnce(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"ok", "forget400", "sse"} {
		t.Run(mode, func(t *testing.T) {
			server := httpServer(t, mode)
			r := newManagerRig(t, map[string]any{"s": map[string]any{"url": server.Endpoint()}}, nil)
			r.m.Start()
			r.waitState("s", StateConnected)
			if res := r.call("mcp:s:echo", `{"text":"a"}`); res.Failed {
				t.Fatalf("%+v", res)
			}
			server.Forget()
			if res := r.call("mcp:s:echo", `{"text":"b"}`); res.Failed || res.Text != "echo: b" {
				t.Errorf("%+v", res)
			}
			if server.Ran("echo") != 2 || server.Count(http.MethodPost, "initialize") != 2 {
				t.Errorf("ran %d times, %d initializes", server.Ran("echo"), server.Count(http.MethodPost, "initialize"))
			}
		})
	}
}

func TestTroubleOfOneHTTPCallStaysThere(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"503once": "503 Service Unavailable: overloaded", "cut": "the answer was cut", "202": "sent no answer (status 202)",
		"badjson": "not a JSON-RPC message", "sse-early": "", "reset": "EOF",
	} {
		t.Run(mode, func(t *testing.T) {
			server, d := dialHTTP(t, mode)
			_, _, err := d.session.call(context.Background(), "echo", json.RawMessage(`{}`), testLimits, nil)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v", err)
			}
			if got := callText(t, d.session, "echo", `{"text":"next"}`); got != "echo: next" {
				t.Errorf("got %q", got)
			}
			if n := server.Count(http.MethodPost, "initialize"); n != 1 {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

func TestLargeHTTPResults(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("moves 170 MB")
	}
	for _, mode := range []string{"ok", "sse"} {
		_, d := dialHTTP(t, mode)
		raw, _, err := d.session.call(context.Background(), "big", json.RawMessage(`{"bytes":17000000}`), testLimits, nil)
		if err != nil || len(raw) < 17_000_000 {
			t.Errorf("%s: %d bytes, %v", mode, len(raw), err)
		}
		_, _, err = d.session.call(context.Background(), "big", json.RawMessage(`{"bytes":70000000}`), testLimits, nil)
		if err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
			t.Errorf("%s: %v", mode, err)
		}
		if got := callText(t, d.session, "echo", `{"text":"next"}`); got != "echo: next" {
			t.Errorf("%s: got %q", mode, got)
		}
	}
}

func TestHeadersStayAtTheirOrigin(t *testing.T) {
	t.Parallel()
	server, d := dialHTTP(t, "redirect-same")
	if got := callText(t, d.session, "echo", `{"text":"x"}`); got != "echo: x" {
		t.Errorf("got %q", got)
	}
	if n := len(server.Requests()); n == 0 || server.Requests()[n-1].Header.Get("X-Key") == "" {
		t.Error("the headers must follow within the origin")
	}
	other := httpServer(t, "stateless")
	first := mcptest.NewHTTP("redirect-other")
	first.Elsewhere = other.Endpoint()
	t.Cleanup(func() { first.CloseClientConnections(); first.Close() })
	r := newStdioRig(t)
	far, err := r.dial(urlEntry(first.Endpoint(), map[string]string{"X-Key": "k3y", "Authorization": "Bearer t0ken"}))
	if err == nil {
		r.end(far.session)
	}
	for _, req := range other.Requests() {
		if req.Header.Get("X-Key") != "" || req.Header.Get("Authorization") != "" {
			t.Errorf("%s %s carries the headers of another origin", req.Method, req.RPC)
		}
	}
	if len(other.Requests()) == 0 {
		t.Error("the redirect was not followed")
	}
}

func TestHTTPSessionIsClosedAtTheServer(t *testing.T) {
	t.Parallel()
	quick(t, "close", 500*time.Millisecond, func() time.Duration {
		server := httpServer(t, "ok")
		r := newStdioRig(t)
		d, err := r.dial(urlEntry(server.Endpoint(), nil))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		d.session.close(errDisconnected)
		took := time.Since(began)
		r.end(d.session)
		if server.Count(http.MethodDelete, "") != 1 {
			t.Error("no DELETE")
		}
		return took
	})
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	for deadline := time.Now().Add(patience); !nobodyListens(t); {
		if time.Now().After(deadline) {
			t.Fatal("each free port was taken by another program meanwhile")
		}
	}
}

// nobodyListens connects to a port on which a server starts later. It returns false if another
// program has taken the port in the meantime.
func nobodyListens(t *testing.T) bool {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close() // the port is free again
	r := newManagerRig(t, map[string]any{"s": map[string]any{"url": "http://" + addr + "/mcp"}}, nil)
	r.m.Start()
	d := r.waitState("s", StateReconnecting)
	if !strings.Contains(d.Error, "connection refused") || d.Attempt < 1 {
		t.Errorf("%+v", d.Status)
	}
	l, err = net.Listen("tcp", addr)
	if err != nil {
		r.m.Close()
		return false
	}
	server := mcptest.NewHTTP("ok")
	defer server.Close()
	front := &http.Server{Handler: server.Config.Handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = front.Serve(l) }() // ends with Close
	defer front.Close()
	r.waitState("s", StateConnected)
	if res := r.call("mcp:s:echo", `{"text":"up"}`); res.Failed {
		t.Errorf("%+v", res)
	}
	r.m.Close()
	return true
}

func TestStreamOfNotifications(t *testing.T) {
	t.Parallel()
	server := httpServer(t, "ok")
	r := newManagerRig(t, map[string]any{"s": map[string]any{"url": server.Endpoint()}}, nil)
	r.m.Start()
	r.waitState("s", StateConnected)
	eventually.True(t, "the stream is open", func() bool { return server.Count(http.MethodGet, "") == 1 })
	var res string
	eventually.True(t, "the notice arrives", func() bool {
		res = strings.TrimPrefix(r.call("mcp:s:grow", `{}`).Text, "added ")
		return strings.Contains(strings.Join(r.offered(), " "), "grown_")
	})
	eventually.True(t, "the last tool is offered", func() bool { return strings.Contains(strings.Join(r.offered(), " "), "mcp:s:"+res) })
	r.m.Close()
}

// TestStreamThatAlwaysEndsCostsNothing checks a stream of notifications that always ends at once,
// with and without an event: calls still work, and the stream is not reopened too often. The first
// wait is 10 ms here instead of half a second, and the calls last 0.6 s instead of 30 s.
func TestStreamThatAlwaysEndsCostsNothing(t *testing.T) {
	t.Parallel()
	for mode, wait := range map[string]time.Duration{"getclose": 10 * time.Millisecond, "getprime=40": 40 * time.Millisecond} {
		t.Run(mode, func(t *testing.T) {
			server := httpServer(t, mode)
			r := newStdioRig(t)
			r.d.reopen = 10 * time.Millisecond
			began := time.Now()
			d, err := r.dial(urlEntry(server.Endpoint(), nil))
			if err != nil {
				t.Fatal(err)
			}
			defer r.end(d.session)
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for i := range 30 {
				<-tick.C
				if got := callText(t, d.session, "echo", fmt.Sprintf(`{"text":"%d"}`, i)); got != fmt.Sprint("echo: ", i) {
					t.Fatalf("call %d gave %q", i, got)
				}
			}
			// Each wait is twice as long as the one before: this is how many fit into the time that passed.
			most := 3
			for left := time.Since(began); left > 0; left -= wait {
				most, wait = most+1, 2*wait
			}
			if n := server.Count(http.MethodGet, ""); n > most {
				t.Errorf("%d streams were opened, want at most %d", n, most)
			}
			if n := server.Count(http.MethodPost, "initialize"); n != 1 {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	server := httpServer(t, "busy=7")
	var delays []time.Duration
	r := newManagerRig(t, map[string]any{"s": map[string]any{"url": server.Endpoint()}}, nil)
	r.m.delay = func(d time.Duration) time.Duration { // on the goroutine of the only server
		delays = append(delays, d)
		return time.Millisecond
	}
	r.m.Start()
	r.waitState("s", StateConnected)
	if len(delays) != 1 || delays[0] != 7*time.Second {
		t.Errorf("tried again after %v, want 7s as the server says", delays)
	}
	r.m.Close()
}

func TestRetryAfterOfACallIsToldToTheModel(t *testing.T) {
	t.Parallel()
	_, d := dialHTTP(t, "503once")
	_, _, err := d.session.call(context.Background(), "echo", json.RawMessage(`{}`), testLimits, nil)
	if err == nil || !strings.Contains(err.Error(), "503 Service Unavailable: overloaded (try again in 1 s)") {
		t.Errorf("%v", err)
	}
}

func TestBadHeaderMarksOverHTTP(t *testing.T) {
	t.Parallel()
	_, d := dialHTTP(t, "xheader")
	if baseNames(d.tools)["headed"] || !strings.Contains(fmt.Sprint(d.skipped), "x-mcp-header") {
		t.Errorf("%v %v", baseNames(d.tools), d.skipped)
	}
}

func TestToolsOfAServerWithoutStreamAreReadAgain(t *testing.T) {
	t.Parallel()
	server := httpServer(t, "get405")
	r := newManagerRig(t, map[string]any{"s": map[string]any{"url": server.Endpoint()}}, nil)
	r.m.Start()
	r.waitState("s", StateConnected)
	name := strings.TrimPrefix(r.call("mcp:s:grow", `{}`).Text, "added ")
	r.m.Refresh(t.Context())
	if strings.Contains(strings.Join(r.offered(), " "), name) {
		t.Error("it was read again within a minute")
	}
	a := r.m.actor("s")
	a.ask(func() { a.listed = a.listed.Add(-2 * time.Minute) })
	r.m.Refresh(t.Context())
	if !strings.Contains(strings.Join(r.offered(), " "), name) {
		t.Errorf("%s is not offered: %v", name, r.offered())
	}
}
