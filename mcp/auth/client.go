package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"jcode/internal/netaddr"
)

const (
	requestLimit = 30 * time.Second
	bodyLimit    = 1 << 20
	maxRedirects = 5
)

// proxies returns the proxy for a request, nil for none.
type proxies func(*http.Request) (*url.URL, error)

// httpClient returns the client for discovery, registration and tokens. It connects to private
// addresses only if the server itself is at one. It follows few redirects, none from https to
// http, and none of requests with a body.
func httpClient(server string, proxy proxies) *http.Client {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.DisableKeepAlives = true // few requests, far apart
	base.Proxy = proxy
	base.DialContext = (&net.Dialer{Timeout: requestLimit}).DialContext
	var trip http.RoundTripper = base
	if u, err := url.Parse(server); err != nil || !netaddr.PrivateHost(u.Hostname()) {
		direct := base.Clone()
		direct.Proxy = nil
		direct.DialContext = (&net.Dialer{Timeout: requestLimit, Control: refusePrivate}).DialContext
		trip = publicTrip{direct: direct, proxied: base}
	}
	return &http.Client{Transport: trip, Timeout: requestLimit, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		switch {
		case via[0].Method != http.MethodGet:
			return http.ErrUseLastResponse
		case len(via) >= maxRedirects:
			return ruleError(fmt.Sprintf("redirected more than %d times", maxRedirects))
		case via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https":
			return ruleError("redirected from https to " + req.URL.Scheme)
		}
		return nil
	}}
}

// publicTrip sends requests to public addresses only. A proxy may have a private one.
type publicTrip struct{ direct, proxied *http.Transport }

// RoundTrip sends a request. If a proxy will connect, what is known here of the host's addresses is checked first.
func (p publicTrip) RoundTrip(req *http.Request) (*http.Response, error) {
	proxy, err := p.proxied.Proxy(req)
	if err != nil {
		return nil, err
	}
	if proxy == nil {
		return p.direct.RoundTrip(req)
	}
	ips, err := net.DefaultResolver.LookupNetIP(req.Context(), "ip", req.URL.Hostname())
	if err != nil {
		ips = nil // a name that only the proxy knows
	}
	for _, ip := range ips {
		if netaddr.Private(ip.Unmap()) {
			return nil, ruleError(req.URL.Hostname() + " is a private address")
		}
	}
	return p.proxied.RoundTrip(req)
}

func refusePrivate(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || netaddr.Private(ip) {
		return ruleError(host + " is a private address")
	}
	return nil
}

// checkEndpoint returns an error for an address that a token or a person must not be sent to.
func checkEndpoint(what, address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return fmt.Errorf("%s %q is not an address", what, address)
	case u.Scheme == "https", u.Scheme == "http" && netaddr.LoopbackHost(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%s %s is not https", what, u.Redacted())
}

// errNotThere says that there is no such document at an address.
var errNotThere = errors.New("not there")

// statusError is a status other than success.
type statusError struct {
	address string
	status  int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s answers with status %d", e.address, e.status)
}

// getJSON fetches a JSON document and decodes it into `into`.
func getJSON(ctx context.Context, c *http.Client, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return &networkError{err}
	}
	defer func() { _ = resp.Body.Close() }() // the body was read as far as needed
	if resp.StatusCode >= 400 && resp.StatusCode < 500 && !passingStatus(resp.StatusCode) {
		return errNotThere
	}
	if resp.StatusCode != http.StatusOK {
		return &statusError{address, resp.StatusCode}
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return fmt.Errorf("%s answers with %q, not with JSON", address, resp.Header.Get("Content-Type"))
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, bodyLimit))
	if err != nil {
		return &networkError{err}
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s answers with invalid JSON: %w", address, err)
	}
	return nil
}
