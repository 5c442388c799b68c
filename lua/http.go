package lua

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"jcode/internal/netaddr"
	"jcode/lua/manifest"
	"jcode/lua/wire"
	"jcode/tools"
)

// Limits of a request.
const (
	maxBody         = 10 << 20
	defaultHTTPTime = 30 * time.Second
	maxRedirects    = 10
)

// callHTTP implements http.get and http.request.
func (s *principal) callHTTP(ctx context.Context, f wire.Func, a arguments) ([]any, error) {
	if !s.all && (s.perms == nil || s.perms.Network == nil) {
		return s.undeclared(f, "network")
	}
	method, address, opts := "GET", a.text(0), a.object(1)
	if f.Field() == "request" {
		method, address, opts = strings.ToUpper(a.text(0)), a.text(1), a.object(2)
	}
	req, err := parseRequest(method, address, opts)
	if err != nil {
		return one(failedRequest(err)), nil
	}
	if missing := s.caller.Scope.Missing(tools.CapHTTP); missing != 0 {
		return one(refusal(tools.KindPermission, "permission denied: %s not granted", missing)), nil
	}
	if !s.all && !slices.Contains(s.perms.Network.Methods, method) {
		return one(refusal(tools.KindPermission, "%s with method %s", s.declareText("network.methods"), method)), nil
	}
	if s.readOnly && method != "GET" && method != "HEAD" {
		return one(refusal(tools.KindPermission, "permission denied: %s changes things, and this tool is declared read_only", method)), nil
	}
	return one(req.send(ctx, s)), nil
}

// request is one HTTP request of a script.
type request struct {
	method  string
	url     *url.URL
	headers map[string]string
	body    string
	timeout time.Duration
}

func parseRequest(method, address string, opts *wire.Object) (*request, error) {
	if !slices.Contains(manifest.HTTPMethods(), method) {
		return nil, tools.Errorf("invalid_method", "unknown method %q; use one of %s", method, strings.Join(manifest.HTTPMethods(), ", "))
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, tools.Errorf("invalid_url", "%q is not an http or https URL", address)
	}
	if u.User != nil {
		return nil, tools.Errorf("invalid_url", "a URL must not carry a user; set the Authorization header")
	}
	r := &request{method: method, url: u, timeout: defaultHTTPTime, headers: map[string]string{}}
	if t, ok := opts.Number("timeout"); ok && t > 0 {
		r.timeout = min(time.Duration(t*float64(time.Second)), 10*time.Minute)
	}
	r.body = opts.String("body")
	headers := opts.Child("headers")
	for i := range headers.Len() {
		key, v := headers.At(i)
		text, ok := v.(string)
		if !ok {
			return nil, tools.Errorf("invalid_url", "header %q must be a text", key)
		}
		r.headers[key] = text
	}
	return r, nil
}

// send carries out the request. The declared hosts are checked for every redirect, the address
// when it is dialled.
func (r *request) send(ctx context.Context, s *principal) *wire.Object {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	check := func(u *url.URL) (literal bool, err error) {
		if u.Scheme != "http" && u.Scheme != "https" {
			return false, tools.Errorf("invalid_url", "only http and https are allowed")
		}
		if denied := s.around.opts.Denied; denied != nil {
			if rule := denied(u.String()); rule != "" {
				return false, tools.Errorf(tools.KindDenied, "denied by the rule %s", rule)
			}
		}
		if s.all {
			return true, nil
		}
		ok, literal := s.perms.Network.Allows(u)
		if !ok {
			return false, tools.Errorf(tools.KindPermission, "%s%s", s.declareText("network.allowed_hosts"), s.perms.Network.Lacks(u))
		}
		return literal, nil
	}
	literal, err := check(r.url)
	if err != nil {
		return failedRequest(err)
	}
	guard := &dialGuard{proxies: map[string]bool{}}
	guard.literal.Store(literal)
	transport := &http.Transport{
		Proxy:                 guard.proxy,
		DialContext:           guard.dial,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: r.timeout,
		DisableKeepAlives:     true,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return tools.Errorf("network", "too many redirects")
		}
		lit, err := check(next.URL)
		guard.literal.Store(lit)
		return err
	}}
	var body io.Reader
	if r.body != "" {
		body = strings.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url.String(), body)
	if err != nil {
		return failedRequest(tools.Errorf("invalid_url", "%w", err))
	}
	for k, v := range r.headers {
		req.Header.Set(k, v)
	}
	if r.body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := client.Do(req)
	if err != nil {
		return failedRequest(err)
	}
	defer func() { _ = resp.Body.Close() }() // read only
	return readResponse(resp)
}

func readResponse(resp *http.Response) *wire.Object {
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return failedRequest(err)
	}
	if n > maxBody {
		return refusal("too_large", "the body is longer than %d MiB", maxBody>>20)
	}
	headers := &wire.Object{}
	for _, k := range slices.Sorted(maps.Keys(resp.Header)) {
		headers.Set(strings.ToLower(k), strings.Join(resp.Header[k], ", "))
	}
	return wire.NewObject("ok", true, "status", float64(resp.StatusCode), "headers", headers, "body", buf.String())
}

// dialGuard refuses addresses of this machine and the local network unless the host was listed
// by its exact name. It checks the address that is dialled, not the one that was resolved.
type dialGuard struct {
	literal atomic.Bool

	mu      sync.Mutex
	proxies map[string]bool // addresses of proxies that the environment sets for the request
}

// proxy returns the proxy that the environment sets for a request. The proxy resolves the name; what is known of it here
// is checked first.
func (g *dialGuard) proxy(req *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(req)
	if u == nil || err != nil {
		return nil, err
	}
	host := req.URL.Hostname()
	if !g.literal.Load() {
		ips, _ := net.DefaultResolver.LookupNetIP(req.Context(), "ip", host) // a name that only the proxy knows passes
		for _, ip := range ips {
			if netaddr.Private(ip.Unmap()) {
				return nil, tools.Errorf(tools.KindPermission, "permission denied: %s leads to the local address %s; list that host by name", host, ip)
			}
		}
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme])
	g.mu.Lock()
	defer g.mu.Unlock()
	g.proxies[net.JoinHostPort(u.Hostname(), port)] = true
	return u, nil
}

func (g *dialGuard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	g.mu.Lock()
	literal := g.literal.Load() || g.proxies[address]
	g.mu.Unlock()
	d := net.Dialer{Timeout: 10 * time.Second, ControlContext: func(_ context.Context, _, addr string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(addr)
		if err != nil {
			return tools.Errorf("network", "%w", err)
		}
		if ip := ap.Addr().Unmap(); !literal && netaddr.Private(ip) {
			return tools.Errorf(tools.KindPermission, "permission denied: %s leads to the local address %s; list that host by name", address, ip)
		}
		return nil
	}}
	return d.DialContext(ctx, network, address)
}

// failedRequest classifies an error.
func failedRequest(err error) *wire.Object {
	var own *tools.Error
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &own):
		return refusal(own.Kind, "%s", own.Text)
	case errors.Is(err, context.DeadlineExceeded):
		return refusal("timeout", "the request took too long")
	case errors.Is(err, context.Canceled):
		return refusal("cancelled", "cancelled")
	case errors.As(err, &dns):
		return refusal("dns", "cannot resolve %s", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return refusal("connection_refused", "connection refused")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.ErrUnexpectedEOF):
		return refusal("connection_reset", "the connection was closed")
	case errors.As(err, &cert), errors.As(err, &record):
		return refusal("tls", "%v", err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return refusal("timeout", "the request took too long")
	}
	return refusal("network", "%v", err)
}
