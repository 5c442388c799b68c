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

// transport is the RoundTripper under go-openai. It corrects, in this one place, what that library cannot
// express in a request (temperature 0, an empty tool result, fields of one provider, reasoning sent back) and
// cannot read in a response (calls without index, reasoning under another name, many empty lines, errors in
// other forms, plain JSON).
type transport struct{ *endpoint.Endpoint }

// RoundTrip sends the body of the exchange in the request's context, and converts the answer into a form that
// go-openai reads.
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

// emptyRefusal replaces a refusal that was read with an empty error object, which go-openai can always read.
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

// exchange is one request and what the transport learns about its answer.
type exchange struct {
	endpoint.Exchange
	body []byte // the encoded request

	model   []byte // JSON text
	sawDone bool
	usage   model.Usage
	counted bool           // usage has arrived
	details []string       // elements of reasoning_details
	message string         // extra_content of the message
	extras  map[int]string // extra_content of calls, by their index
}

// keepWithCall records what must be sent back with a call.
func (x *exchange) keepWithCall(call int, extra []byte) {
	if !json.Valid(extra) {
		return
	}
	if x.extras == nil {
		x.extras = map[int]string{}
	}
	x.extras[call] = string(extra)
}
