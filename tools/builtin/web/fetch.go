package web

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"jcode/internal/text"
	"jcode/tools"
)

//go:embed fetch.md
var fetchText string

// The limits of a fetch.
const (
	fetchTimeout  = 30 * time.Second
	maxRedirects  = 10
	maxFetchBody  = 5 << 20   // bytes that are read
	maxFetchText  = 100 << 10 // bytes of text that are returned
	maxFetchError = 2 << 10   // bytes of an error page
)

// FetchOptions are the settings of the fetch tool.
type FetchOptions struct {
	// Judge decides whether an address that was not judged before may be fetched: after a redirect,
	// or if a name leads into a private network. Nil means no.
	Judge func(context.Context, tools.Call, tools.Spec, tools.Plan) tools.Decision
	// Lookup resolves a name. Nil means the system's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Proxy returns the proxy for a request. Nil means the environment's.
	Proxy func(*http.Request) (*url.URL, error)
	// Agent is the User-Agent.
	Agent string
}

// Fetch returns the fetch tool.
func Fetch(o FetchOptions) tools.Tool {
	if o.Lookup == nil {
		o.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
	if o.Agent == "" {
		o.Agent = "jcode"
	}
	return fetchTool{o}
}

type fetchTool struct{ opts FetchOptions }

type fetchArgs struct {
	URL    string `json:"url"`
	Format string `json:"format"`
}

// Spec implements tools.Tool.
func (t fetchTool) Spec() tools.Spec {
	return tools.Spec{
		Name: "fetch", Description: strings.TrimSpace(fetchText), Group: tools.GroupBuiltin, ReadOnly: true, Trusted: true, Needs: tools.CapHTTP,
		Parameters: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"},"format":{"type":"string","enum":["markdown","text","html"],"description":"Default markdown"}},"required":["url"]}`),
		Aliases:    map[string]string{"uri": "url", "link": "url"},
		MaxOutput:  maxFetchText + 4<<10,
	}
}

// address parses and normalizes an address: http or https, a host in ASCII, no credentials.
func address(s string) (*url.URL, error) {
	s = strings.TrimSpace(s)
	if !strings.Contains(s, "://") {
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, tools.Errorf(tools.KindInvalidArgs, "the address can't be read: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, tools.Errorf(tools.KindInvalidArgs, "only http and https addresses can be fetched, not %s", text.Visible(u.Scheme))
	}
	if u.User != nil {
		return nil, tools.Errorf(tools.KindInvalidArgs, "the address contains a user name: leave it out, credentials are not sent")
	}
	host := u.Hostname()
	if host == "" {
		return nil, tools.Errorf(tools.KindInvalidArgs, "the address has no host")
	}
	if net.ParseIP(host) == nil {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			// Names with underscores and the like are looked up unchanged.
			ascii = strings.ToLower(host)
		}
		if strings.ContainsFunc(ascii, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, tools.Errorf(tools.KindInvalidArgs, "the host %s is not a valid name", text.Visible(host))
		}
		if port := u.Port(); port != "" {
			ascii = net.JoinHostPort(ascii, port)
		}
		u.Host = ascii
	}
	u.Fragment = ""
	return u, nil
}

// Plan implements tools.Planner. It sends nothing, not even a query for a name, which would
// already reveal something.
func (t fetchTool) Plan(_ context.Context, call tools.Call) (tools.Plan, error) {
	var a fetchArgs
	if err := call.Decode(&a); err != nil {
		return tools.Plan{}, err
	}
	u, err := address(a.URL)
	if err != nil {
		return tools.Plan{}, err
	}
	return planFetch(u, false), nil
}

func planFetch(u *url.URL, private bool) tools.Plan {
	return tools.Plan{
		Accesses: []tools.Access{{Kind: tools.AccessFetch, URL: u.String(), Private: private}},
		Summary:  "Fetch: " + text.Brief(u.String()),
	}
}

// Run implements tools.Tool.
func (t fetchTool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	var a fetchArgs
	if err := call.Decode(&a); err != nil {
		return tools.Result{}, err
	}
	u, err := address(a.URL)
	if err != nil {
		return tools.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	f := &fetching{tool: t, call: call, allowed: map[string]bool{}}
	f.allow(u, false)
	defer f.close()
	page, err := f.follow(ctx, u)
	if err != nil {
		return tools.Result{}, fetchError(ctx, err)
	}
	return page.result(a.Format)
}

// fetchError returns an error that says what to try next.
func fetchError(ctx context.Context, err error) error {
	if known, ok := errors.AsType[*tools.Error](err); ok {
		return known
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return tools.Errorf(tools.KindTimeout, "the server did not answer within %v", fetchTimeout)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return tools.Errorf(tools.KindIO, "there is no host %s: check the address", text.Visible(dns.Name))
	}
	if asked, ok := errors.AsType[*url.Error](err); ok {
		err = asked.Err
	}
	return tools.Errorf(tools.KindIO, "fetch: %w", err)
}

// Get fetches a page that the person named, unconverted. o.Judge decides about its address.
// Redirects to other hosts or into a private network are refused without a question.
func Get(ctx context.Context, o FetchOptions, call tools.Call, named string) (body []byte, kind string, err error) {
	u, err := address(named)
	if err != nil {
		return nil, "", err
	}
	t := Fetch(o).(fetchTool)
	if o.Judge != nil {
		if dec := o.Judge(ctx, call, t.Spec(), planFetch(u, false)); !dec.Allow {
			return nil, "", tools.Errorf(tools.KindDenied, "%s", dec.Reason)
		}
	}
	t.opts.Judge = nil
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	f := &fetching{tool: t, call: call, allowed: map[string]bool{}}
	f.allow(u, false)
	defer f.close()
	got, err := f.follow(ctx, u)
	switch {
	case err != nil:
		return nil, "", fetchError(ctx, err)
	case got.code >= 400:
		return nil, "", tools.Errorf(tools.KindIO, "the server answered %s", got.status)
	case got.cut:
		return nil, "", tools.Errorf(tools.KindLimit, "the page has more than %d MB", maxFetchBody>>20)
	}
	kind = got.mediaType()
	if readable(kind) && kind != "text/html" && kind != "application/xhtml+xml" {
		plain, err := got.text(kind, "text")
		return []byte(plain), kind, err
	}
	return got.body, kind, nil
}
