package endpoint

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// deployment is the part of an address that names the model.
const deployment = "/deployments/{model}"

type askedKey struct{}

// asking returns a context whose requests are about a model.
func asking(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, askedKey{}, id)
}

// address completes the address of a request: by the query of the base URL, and by the model where that has a place
// for it.
func (e *Endpoint) address(req *http.Request) {
	if e.base.RawQuery == "" && !strings.Contains(req.URL.Path, "{model}") {
		return
	}
	u := *req.URL
	if id, ok := req.Context().Value(askedKey{}).(string); ok && strings.Contains(u.Path, "{model}") {
		u.RawPath = strings.ReplaceAll(strings.ReplaceAll(u.EscapedPath(), "%7Bmodel%7D", "{model}"), "{model}", url.PathEscape(id))
		u.Path = strings.ReplaceAll(u.Path, "{model}", id)
	}
	have := u.Query()
	for _, part := range strings.Split(e.base.RawQuery, "&") {
		if name, _, _ := strings.Cut(part, "="); part != "" && !have.Has(name) {
			u.RawQuery = strings.TrimPrefix(u.RawQuery+"&"+part, "&")
		}
	}
	req.URL = &u
}

// ownHeader reports whether the key has a header of its own and no other. Anthropic's is sent beside a bearer token,
// which its chat completions want.
func (e *Endpoint) ownHeader() bool {
	return e.Config.KeyHeader != "" && !strings.EqualFold(e.Config.KeyHeader, "X-Api-Key") && e.Config.Token == ""
}

// authorized sends a request with what its source adds, and once more if that was refused and something newer may pass.
// So a key that expires in the middle of a session is replaced before anybody hears of it.
func (e *Endpoint) authorized(req *http.Request) (*http.Response, error) {
	for again := false; ; again = true {
		body, err := bodyOf(req)
		if err == nil {
			err = e.source.Authorize(req.Context(), req, body)
		}
		if err != nil {
			if req.Body != nil {
				_ = req.Body.Close() // nothing of it was sent
			}
			return nil, err
		}
		resp, err := e.conns.RoundTrip(req)
		if err != nil || again || resp.StatusCode < 400 || req.Body != nil && req.GetBody == nil || !e.source.Again(req, resp) {
			return resp, err
		}
		_ = resp.Body.Close() // the next answer counts
		req = req.Clone(req.Context())
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// bodyOf returns the whole body of a request that can be sent again.
func bodyOf(req *http.Request) ([]byte, error) {
	if req.GetBody == nil {
		return nil, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(body)
}
