package chat

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
)

// transport is the RoundTripper under go-openai. What that library cannot say in a
// request (temperature 0, an empty tool result, fields of one provider, reasoning sent
// back) or stumbles over in a response (calls without index, reasoning under another
// name, many blank lines, errors in forms of their own, plain JSON) is corrected here,
// and nowhere else.
type transport struct{ *endpoint.Endpoint }

// RoundTrip sends the body of the exchange in the request's context, and brings the answer
// into a form that go-openai reads.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	if x == nil {
		return t.Endpoint.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	if req.Body != nil {
		_ = req.Body.Close() // go-openai's own body, an in-memory reader
	}
	req.ContentLength = int64(len(x.body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.body)), nil }
	req.Body, _ = req.GetBody()
	resp, err := t.Endpoint.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch code := resp.StatusCode; {
	case x.Refused(resp):
		return emptyRefusal(resp), nil
	case code >= 300:
		return resp, nil // net/http follows it with the whole request
	}
	resp.Body = newNormalBody(resp, x)
	return resp, nil
}

// emptyRefusal puts an empty error object in place of a refusal that was read: go-openai can
// always read that.
func emptyRefusal(resp *http.Response) *http.Response {
	const empty = `{"error":{"message":"refused"}}`
	if resp.StatusCode < 400 {
		resp.StatusCode = http.StatusBadGateway
	}
	resp.Body = io.NopCloser(strings.NewReader(empty))
	resp.ContentLength = int64(len(empty))
	return resp
}

type exchangeKey struct{}

// exchange is one request and what the transport learns of its answer.
type exchange struct {
	endpoint.Exchange
	body []byte // the encoded request

	model   []byte // JSON text
	sawDone bool
	usage   model.Usage
	counted bool           // usage came
	details []string       // elements of reasoning_details
	message string         // extra_content of the message
	extras  map[int]string // extra_content of calls, by their index
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
