package endpoint

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
)

// Sent is a request in the form in which it is really sent, in place of the one that a client library makes.
type Sent struct {
	Exchange *Exchange
	Body     []byte
	// Read converts the answer into a form that the library reads.
	Read func(*http.Response) io.ReadCloser
}

type sentKey struct{}

// In returns a context whose request Transport replaces.
func (s *Sent) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, sentKey{}, s)
}

// Transport is the RoundTripper under a client library. It replaces the library's body with the one in the
// request's context, and keeps refusals, which Judge explains.
type Transport struct{ *Endpoint }

// RoundTrip sends the body that stands in the request's context.
func (t Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	s, _ := req.Context().Value(sentKey{}).(*Sent)
	if s == nil {
		return t.Endpoint.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	if req.Body != nil {
		_ = req.Body.Close() // the library's own body, an in-memory reader
	}
	req.ContentLength = int64(len(s.Body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(s.Body)), nil }
	req.Body, _ = req.GetBody()
	resp, err := t.Endpoint.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch code := resp.StatusCode; {
	case s.Exchange.Refused(resp):
		return emptyRefusal(resp), nil
	case code >= 300:
		return resp, nil // net/http follows it with the whole request
	}
	resp.Body = s.Read(resp)
	return resp, nil
}

// emptyRefusal replaces a refusal that was read with an empty error object, which a library can always read.
func emptyRefusal(resp *http.Response) *http.Response {
	const empty = `{"error":{"message":"refused"}}`
	if resp.StatusCode < 400 {
		resp.StatusCode = http.StatusBadGateway
	}
	resp.Body = io.NopCloser(strings.NewReader(empty))
	resp.ContentLength = int64(len(empty))
	return resp
}
