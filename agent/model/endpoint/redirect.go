package endpoint

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// maxRedirects bounds how often one request is redirected.
const maxRedirects = 10

// HTTP returns a client that sends requests over a transport of the endpoint. It follows a redirect only with
// the whole request and only to the same server: the conversation and the key reach no other server. Any
// other redirect is returned, and is judged as a refusal.
func (e *Endpoint) HTTP(over http.RoundTripper) *http.Client {
	return &http.Client{Transport: over, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		switch {
		case !follows(req.Response):
			return http.ErrUseLastResponse
		case len(via) >= maxRedirects:
			return fmt.Errorf("stopped after %d redirects", maxRedirects)
		}
		return nil
	}}
}

// follows reports whether a redirect is followed: it must keep method and body (any redirect does for GET)
// and lead to the same server.
func follows(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		if resp.Request == nil || resp.Request.Method != http.MethodGet {
			return false
		}
	default:
		return false
	}
	to, err := resp.Location()
	return err == nil && resp.Request != nil && sameServer(resp.Request.URL, to)
}

// sameServer reports whether two addresses have the same scheme, host and port. The second may also be the
// HTTPS address of a host that was asked over HTTP, both on their default ports.
func sameServer(from, to *url.URL) bool {
	if from.Hostname() == "" || from.Hostname() != to.Hostname() {
		return false
	}
	if from.Scheme == "http" && to.Scheme == "https" {
		return port(from) == "80" && port(to) == "443"
	}
	return from.Scheme == to.Scheme && port(from) == port(to)
}

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// moved describes a redirect that is not followed.
func (e *Endpoint) moved(where string) string {
	return fmt.Sprintf("%s has moved to %s: set that as base URL", e.Config.Address(), cut(e.Redact(where), 200))
}

// Moved describes a redirect that is not followed; "" for any other response.
func (e *Endpoint) Moved(resp *http.Response) string {
	where := resp.Header.Get("Location")
	if resp.StatusCode < 300 || resp.StatusCode >= 400 || where == "" || follows(resp) {
		return ""
	}
	return e.moved(where)
}

// errForeign keeps a request with the provider's headers from every other server.
var errForeign = errors.New("the request was led to another server, which gets neither the conversation nor the key")
