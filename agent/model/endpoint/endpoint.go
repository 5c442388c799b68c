package endpoint

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"jcode/agent/model/credential"
	"jcode/agent/model/provider"
	"jcode/internal/secret"
)

// Endpoint is one provider's address with its connections. It is safe for concurrent use.
type Endpoint struct {
	Config provider.Config
	extra  []Field // the provider's own fields of a request's body
	limits provider.Limits
	conns  *connections
	header map[string]string
	base   *url.URL
	source credential.Source // nil for a key that never changes
}

// New returns an endpoint and opens no connection. The error names the wrong field of the configuration.
func New(cfg provider.Config) (*Endpoint, error) {
	if err := provider.CheckURL(cfg.BaseURL); err != nil {
		return nil, err
	}
	header := map[string]string{"User-Agent": "jcode"}
	maps.Copy(header, cfg.Headers)
	if cfg.KeyHeader != "" && cfg.Key != "" {
		header[cfg.KeyHeader] = string(cfg.Key)
	}
	base, err := url.Parse(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	extra, err := fields(cfg.ExtraBody)
	if err != nil {
		return nil, fmt.Errorf("extra body fields of provider %q: %w", cfg.Name, err)
	}
	limits := cfg.Limits.WithDefaults()
	return &Endpoint{
		Config: cfg, extra: extra, limits: limits, conns: newConnections(limits.Idle), header: header, base: base, source: credential.Of(cfg),
	}, nil
}

// Close ends idle connections. Running requests continue.
func (e *Endpoint) Close() { e.conns.close() }

// RoundTrip sends a request with the provider's headers over a connection that is believed to be alive. A
// request to a server other than the base URL's is an error.
func (e *Endpoint) RoundTrip(req *http.Request) (*http.Response, error) {
	if !sameServer(e.base, req.URL) {
		if req.Body != nil {
			_ = req.Body.Close() // nothing of it was sent
		}
		return nil, errForeign
	}
	req = req.Clone(req.Context())
	e.address(req)
	if e.Config.Key != "" && e.ownHeader() {
		req.Header.Del("Authorization")
	}
	for name, value := range e.header {
		req.Header.Set(name, joined(name, req.Header.Get(name), value))
	}
	if e.source != nil {
		return e.authorized(req)
	}
	return e.conns.RoundTrip(req)
}

// joined returns the value of a header that the settings give and the request may have already: of a list, both.
func joined(name, ours, theirs string) string {
	if ours == "" || !isListHeader(name) {
		return theirs
	}
	all := strings.Split(ours, ",")
	for _, v := range strings.Split(theirs, ",") {
		if v = strings.TrimSpace(v); v != "" && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return strings.Join(all, ",")
}

// isListHeader recognises headers whose values are lists, such as those that ask for what a provider tries out.
func isListHeader(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "-beta") || strings.HasSuffix(name, "-betas") || strings.HasSuffix(name, "-features") || name == "via" || name == "vary"
}

// URL returns an address below the base URL, without the query of that.
func (e *Endpoint) URL(path string) string {
	address, _ := provider.SplitURL(e.Config.BaseURL)
	return address + path
}

// Name returns the endpoint's name for messages.
func (e *Endpoint) Name() string {
	if e.Config.Name != "" {
		return e.Config.Name
	}
	return e.Config.Address()
}

// Redact removes the key, and the values of headers, from a server's words.
func (e *Endpoint) Redact(s string) string {
	hidden := []string{string(e.Config.Key), string(e.Config.Token)}
	if e.source != nil {
		hidden = append(hidden, e.source.Secrets()...)
	}
	for _, v := range append(hidden, slices.Collect(maps.Values(e.Config.Headers))...) {
		s = masked(s, v)
	}
	return s
}

// leastMasked is the length of the shortest key that is masked: what is shorter is a stand-in for one, such as "test",
// and an ordinary word.
const leastMasked = 12

// surelyKey is the length from which a key is masked within other text, too.
const surelyKey = 20

// masked replaces a key where it stands as a whole token.
func masked(s, key string) string {
	if len(key) < leastMasked {
		return s
	}
	var out strings.Builder
	for {
		at := strings.Index(s, key)
		if at < 0 {
			return out.String() + s
		}
		end := at + len(key)
		if len(key) >= surelyKey {
			out.WriteString(s[:at] + secret.Mark)
			s = s[end:]
			continue
		}
		before, after := at > 0 && isTokenByte(s[at-1]) && isTokenByte(key[0]), end < len(s) && isTokenByte(s[end]) && isTokenByte(key[len(key)-1])
		if before || after {
			out.WriteString(s[:end])
		} else {
			out.WriteString(s[:at] + secret.Mark)
		}
		s = s[end:]
	}
}

func isTokenByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// ProxyInUse names the proxy that the environment sets for the endpoint, without its
// password; "" without one.
func (e *Endpoint) ProxyInUse() string {
	p, _ := proxyOf(e.Config.BaseURL)
	return p
}

// ExtraCertificates reports whether the certificates of NODE_EXTRA_CA_CERTS are used, or why they could not
// be read.
func (e *Endpoint) ExtraCertificates() (used bool, err error) {
	roots, err := e.conns.roots()
	return roots != nil, err
}

// wrongAddress returns the failure for an answer that does not come from an API.
func (e *Endpoint) wrongAddress(page []byte) *Failure {
	return Fail(classRequest, 0, fmt.Sprintf("%s did not answer as an API does (%s): is the base URL right (it usually ends in /v1)?", e.Config.Address(), plainText(string(page))), nil)
}
