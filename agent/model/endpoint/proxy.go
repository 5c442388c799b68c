package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// isProxyFault reports whether a request failed on its way to or through a proxy.
func isProxyFault(err error) bool {
	var op *net.OpError
	if !errors.As(err, &op) {
		return false
	}
	return op.Op == "proxyconnect" || strings.HasPrefix(op.Op, "socks")
}

// proxyAnswer turns a proxy's refusal to connect into a fault of the proxy: net/http returns its words as a
// bare error.
func proxyAnswer(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &net.OpError{Op: "proxyconnect", Net: "tcp", Err: errors.New(resp.Status)}
}

// proxyFault says which proxy failed, and where it was set.
func (e *Endpoint) proxyFault(err error) string {
	why := err
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		why = rootCause(op.Err)
	}
	if strings.Contains(strings.ToLower(why.Error()), "proxy authentication required") {
		return e.proxyRefused()
	}
	return fmt.Sprintf("the proxy %s cannot be used to reach %s: %s. Start it, or correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY; NO_PROXY names hosts that need none",
		e.proxy(), e.Config.Address(), cut(e.Redact(why.Error()), 200))
}

func (e *Endpoint) proxyRefused() string {
	return fmt.Sprintf("the proxy %s wants a user and a password: set them in HTTPS_PROXY, as in http://user:password@host:port", e.proxy())
}

// proxy names the proxy that the environment sets for the endpoint, without its password.
func (e *Endpoint) proxy() string {
	if p, ok := proxyOf(e.Config.BaseURL); ok {
		return p
	}
	return "of the environment"
}

// proxyOf returns the proxy that the environment sets for an address, without its password.
func proxyOf(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	p, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	if err != nil || p == nil {
		return "", false
	}
	return p.Redacted(), true
}

// rootsFault says why extra certificates could not be read, as the end of a sentence.
func (e *Endpoint) rootsFault() string {
	if _, err := e.conns.roots(); err != nil {
		return " (" + err.Error() + ")"
	}
	return ""
}
