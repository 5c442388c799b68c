package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
)

// transport is the RoundTripper under go-openai. What that library cannot say in a
// request (temperature 0, an empty tool result, fields of one provider, reasoning sent
// back) or stumbles over in a response (calls without index, reasoning under another
// name, many blank lines, errors in forms of their own, plain JSON) is put right here,
// and nowhere else.
type transport struct {
	conns   *connections
	headers map[string]string
}

func newTransport(cfg ProviderConfig) *transport {
	headers := cfg.Headers
	if cfg.KeyHeader != "" && cfg.Key != "" {
		headers = merged(headers, map[string]string{cfg.KeyHeader: string(cfg.Key)})
	}
	return &transport{headers: headers, conns: newConnections(cfg.Limits.withDefaults().Idle)}
}

// RoundTrip sends one request and repairs both ways. Requests without an exchange in
// their context pass with the provider's headers only.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("User-Agent", "jcode")
	for name, value := range t.headers {
		req.Header.Set(name, value)
	}
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	if x == nil {
		return t.conns.RoundTrip(req)
	}
	if req.Body != nil {
		_ = req.Body.Close() // go-openai's own body, an in-memory reader
	}
	req.ContentLength = int64(len(x.body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.body)), nil }
	req.Body, _ = req.GetBody()
	resp, err := t.conns.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch code := resp.StatusCode; {
	case (code == http.StatusTemporaryRedirect || code == http.StatusPermanentRedirect) && resp.Header.Get("Location") != "":
		return resp, nil // net/http follows these with the whole request
	case code >= 300:
		return x.refused(resp), nil
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && kind == "text/html" {
		x.webPage = true
		return x.refused(resp), nil
	}
	resp.Body = newNormalBody(resp, x)
	return resp, nil
}

type exchangeKey struct{}

// exchange is one request and what the transport learns of its answer. It belongs to the
// goroutine that streams.
type exchange struct {
	body   []byte // the encoded request
	asked  string // the model's ID
	silent *silence

	// Of a refusal.
	status  int
	header  http.Header
	refusal []byte
	webPage bool

	// Of a stream.
	model     []byte // JSON text
	chunks    int
	sawDone   bool
	sawFinish bool
	finish    string
	usage     Usage
	counted   bool           // usage came
	details   []string       // elements of reasoning_details
	message   string         // extra_content of the message
	extras    map[int]string // extra_content of calls, by their index
	fault     *fault
	rubbish   string // the beginning of the first thing that is no chunk
}

// heard says that the server sent something; fed, that it was more than comments.
func (x *exchange) heard(fed bool) { x.silent.heard(fed) }

// finished notes the finish reason. What follows, usage at most, may take a moment only.
func (x *exchange) finished(raw []byte) {
	x.sawFinish = true
	x.finish = finishReason(string(raw))
	x.silent.last()
}

// keepWithCall notes what must come back with a call.
func (x *exchange) keepWithCall(call int, extra []byte) {
	if !json.Valid(extra) {
		return
	}
	if x.extras == nil {
		x.extras = map[int]string{}
	}
	x.extras[call] = string(extra)
}

// faulted notes an error object inside a stream.
func (x *exchange) faulted(raw []byte) error {
	f := readFault(raw)
	x.fault = &f
	return errFault
}

var errFault = errors.New("the stream carries an error")

const maxRubbish = 200

// junk notes what is no chunk, for a message in case nothing else comes.
func (x *exchange) junk(p []byte) {
	if x.rubbish == "" {
		x.rubbish = strings.ToValidUTF8(string(p[:min(len(p), maxRubbish)]), "")
	}
}

// maxRefusal bounds the body of an error response.
const maxRefusal = 256 << 10

// refused keeps an error response's body, and gives go-openai an empty error object in its
// place, which it can always read.
func (x *exchange) refused(resp *http.Response) *http.Response {
	x.status, x.header = resp.StatusCode, resp.Header
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil {
		body = append(body, "\n(the rest of the answer is missing)"...)
	}
	x.refusal = body
	_ = resp.Body.Close() // read as far as it is of use
	const empty = `{"error":{"message":"refused"}}`
	if resp.StatusCode < 400 {
		resp.StatusCode = http.StatusBadGateway
	}
	resp.Body = io.NopCloser(strings.NewReader(empty))
	resp.ContentLength = int64(len(empty))
	return resp
}
