package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"jcode/internal/netaddr"
	"jcode/internal/text"
	"jcode/tools"
)

// fetching is one fetch on its way through redirects.
type fetching struct {
	tool fetchTool
	call tools.Call
	// allowed are the hosts that may be contacted, and, with the prefix "private ", those that may be
	// contacted at a private address.
	allowed   map[string]bool
	transport *http.Transport
	// request builds the request for an address. Nil means the request for a page.
	request func(ctx context.Context, u *url.URL) (*http.Request, error)
}

func (f *fetching) allow(u *url.URL, private bool) {
	host := strings.ToLower(u.Hostname())
	f.allowed[host] = true
	if private || netaddr.PrivateHost(host) {
		f.allowed["private "+host] = true
	}
}

func (f *fetching) close() {
	if f.transport != nil {
		f.transport.CloseIdleConnections()
	}
}

// privateError says that a name leads into a private network and that this was not allowed.
type privateError struct {
	host string
	ip   netip.Addr
}

func (e *privateError) Error() string {
	return fmt.Sprintf("%s leads to the private address %s", e.host, e.ip)
}

// follow fetches an address and what it redirects to.
func (f *fetching) follow(ctx context.Context, u *url.URL) (page, error) {
	for range maxRedirects + 1 {
		resp, err := f.get(ctx, u)
		if err != nil {
			return page{}, err
		}
		next, ok := redirect(resp)
		if !ok {
			return readPage(resp, u)
		}
		_ = resp.Body.Close() // a redirect's body is not needed
		to, err := u.Parse(next)
		if err == nil {
			to, err = address(to.String())
		}
		if err != nil {
			return page{}, tools.Errorf(tools.KindIO, "%s redirects to an address that is not fetched: %w", u.Host, err)
		}
		if !f.allowed[strings.ToLower(to.Hostname())] {
			if err := f.ask(ctx, to, false, "redirected from "+u.Host); err != nil {
				return page{}, err
			}
		}
		u = to
	}
	return page{}, tools.Errorf(tools.KindIO, "more than %d redirects", maxRedirects)
}

func redirect(resp *http.Response) (to string, ok bool) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		to = resp.Header.Get("Location")
		return to, to != ""
	}
	return "", false
}

// ask has the gate judge an address that it has not judged yet.
func (f *fetching) ask(ctx context.Context, u *url.URL, private bool, note string) error {
	if f.tool.opts.Judge == nil {
		return tools.Errorf(tools.KindDenied, "denied: %s, and nobody can be asked", note)
	}
	plan := planFetch(u, private)
	plan.Notes = append(plan.Notes, note)
	dec := f.tool.opts.Judge(ctx, f.call, f.tool.Spec(), plan)
	if !dec.Allow {
		return tools.Errorf(tools.KindDenied, "%s: %s", note, dec.Reason)
	}
	f.allow(u, private)
	return nil
}

// get fetches one address. If its name leads into a private network, it asks first.
func (f *fetching) get(ctx context.Context, u *url.URL) (*http.Response, error) {
	resp, err := f.try(ctx, u)
	private, ok := errors.AsType[*privateError](err)
	if !ok {
		return resp, err
	}
	if err := f.ask(ctx, u, true, private.Error()); err != nil {
		return nil, err
	}
	return f.try(ctx, u)
}

func (f *fetching) try(ctx context.Context, u *url.URL) (*http.Response, error) {
	ask := f.request
	if ask == nil {
		ask = pageRequest
	}
	req, err := ask(ctx, u)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", f.tool.opts.Agent)
	proxy, err := f.tool.opts.Proxy(req)
	if err != nil {
		return nil, fmt.Errorf("find proxy: %w", err)
	}
	if f.transport == nil {
		f.transport = &http.Transport{
			DialContext: f.dial, ForceAttemptHTTP2: true, DisableKeepAlives: true,
			TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 20 * time.Second, MaxResponseHeaderBytes: 256 << 10,
		}
	}
	transport := f.transport
	if proxy != nil {
		// The proxy resolves the name; what is known of it here is checked first.
		if err := f.vet(ctx, u.Hostname()); err != nil {
			return nil, err
		}
		transport = f.transport.Clone()
		transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
		transport.Proxy = http.ProxyURL(proxy)
		defer transport.CloseIdleConnections()
	}
	return transport.RoundTrip(req)
}

// pageRequest builds the request for a page.
func pageRequest(ctx context.Context, u *url.URL) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err == nil {
		req.Header.Set("Accept", "text/markdown, text/html;q=0.9, application/json;q=0.9, text/plain;q=0.8, */*;q=0.1")
	}
	return req, err
}

// vet checks where a name leads if a proxy will connect. A name that only the proxy knows passes.
func (f *fetching) vet(ctx context.Context, host string) error {
	ips, err := f.resolve(ctx, host)
	if err != nil {
		return nil // not known here
	}
	return f.judge(host, ips)
}

func (f *fetching) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	return f.tool.opts.Lookup(ctx, host)
}

// judge refuses a host if one of its addresses is private and that was not allowed: a name that
// returns both kinds can be trusted with neither.
func (f *fetching) judge(host string, ips []netip.Addr) error {
	for _, ip := range ips {
		if netaddr.Private(ip) && !f.allowed["private "+strings.ToLower(host)] {
			return &privateError{host, ip}
		}
	}
	return nil
}

// dial connects to exactly the addresses that were judged: the name is not looked up again.
func (f *fetching) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	ips, err := f.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	if len(ips) == 0 {
		return nil, fmt.Errorf("%s has no address", host)
	}
	if err := f.judge(host, ips); err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: 10 * time.Second}
	var first error
	for _, ip := range ips {
		conn, err := d.DialContext(ctx, network, net.JoinHostPort(ip.Unmap().String(), port))
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// page is a response.
type page struct {
	url    *url.URL
	status string
	code   int
	kind   string // content type as sent
	body   []byte
	cut    bool // there is more than maxFetchBody
}

func readPage(resp *http.Response, u *url.URL) (page, error) {
	defer func() { _ = resp.Body.Close() }() // only read
	p := page{url: u, status: resp.Status, code: resp.StatusCode, kind: resp.Header.Get("Content-Type")}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxFetchBody+1))
	if err != nil && len(body) == 0 {
		return p, fmt.Errorf("read answer: %w", err)
	}
	// An incomplete body is returned as far as it was received, and marked.
	p.cut = len(body) > maxFetchBody || err != nil
	p.body = body[:min(len(body), maxFetchBody)]
	p.status = text.Clean(p.status)
	return p, nil
}
