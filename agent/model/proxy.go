package model

import (
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

// proxyFault says which proxy failed, and where it was set.
func (c *OpenAI) proxyFault(err error) string {
	why := err
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		why = rootCause(op.Err)
	}
	if strings.Contains(strings.ToLower(why.Error()), "proxy authentication required") {
		return c.proxyRefused()
	}
	return fmt.Sprintf("the proxy %s cannot be used to reach %s: %s. Start it, or correct HTTPS_PROXY, HTTP_PROXY or ALL_PROXY; NO_PROXY names hosts that need none",
		c.proxy(), c.cfg.Address(), cut(c.redact(why.Error()), 200))
}

func (c *OpenAI) proxyRefused() string {
	return fmt.Sprintf("the proxy %s wants a user and a password: set them in HTTPS_PROXY, as in http://user:password@host:port", c.proxy())
}

// proxy names the proxy that the environment sets for the endpoint, without its password.
func (c *OpenAI) proxy() string {
	if p, ok := proxyOf(c.cfg.BaseURL); ok {
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
func (c *OpenAI) rootsFault() string {
	if err := c.transport.conns.rootsFault; err != nil {
		return " (" + err.Error() + ")"
	}
	return ""
}
