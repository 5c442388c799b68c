package wire

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"jcode/internal/pattern"
	"jcode/internal/text"
	"jcode/mcp/config"
)

// acceptedSSE handles the answer to a message in the transport of 2024, in which results arrive
// on the stream.
func (r *roundTripper) acceptedSSE(resp *http.Response, msg envelope, x *Exchange) (*http.Response, error) {
	if resp.StatusCode < 400 {
		return resp, nil
	}
	r.failed(msg, x, r.statusError(resp, r.peek(resp)))
	return resp, nil
}

// answer turns any answer to a call into one that the library can read.
func (r *roundTripper) answer(req *http.Request, resp *http.Response, msg envelope, x *Exchange) (*http.Response, error) {
	kind, _, _ := strings.Cut(strings.ToLower(resp.Header.Get("Content-Type")), ";")
	kind = strings.TrimSpace(kind)
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return resp, nil // the client follows it
	case resp.StatusCode >= 400:
		return r.refusal(req, resp, msg, x), nil
	case kind == "text/event-stream":
		r.filterBody(resp, msg.id)
		r.succeeded(msg)
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }() // read only
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(r.limit)+1))
	switch {
	case err != nil:
		return r.broken(req, msg, x, fmt.Errorf("the answer was cut: %w", err)), nil
	case len(body) > r.limit:
		return r.broken(req, msg, x, tooLargeError{r.limit}), nil
	case len(bytes.TrimSpace(body)) == 0:
		return r.broken(req, msg, x, fmt.Errorf("the server sent no answer (status %d)", resp.StatusCode)), nil
	}
	list, err := readEnvelopes(body)
	if err != nil && kind != "application/json" {
		e := Permanentf("this is not an MCP endpoint: it answered %s", cmp.Or(kind, "without a content type"))
		return r.broken(req, msg, x, e), nil
	}
	if err != nil {
		return r.broken(req, msg, x, errors.New("the answer is not a JSON-RPC message: "+r.clean(body))), nil
	}
	i := slices.IndexFunc(list, func(e envelope) bool { return e.method == "" && IDKey(e.id) == IDKey(msg.id) })
	if i < 0 && len(list) == 1 && list[0].id == nil && list[0].err != nil {
		i, list[0].id = 0, msg.id // an error that could not say what it answers
	}
	if i < 0 {
		return r.broken(req, msg, x, errors.New("the answer is for another request")), nil
	}
	r.succeeded(msg)
	out := reply(req, http.StatusOK, "application/json", r.tap.see(list[i]).encode())
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		out.Header.Set("Mcp-Session-Id", id)
	}
	return out, nil
}

// opens reports whether a message belongs to the handshake.
func (e envelope) opens() bool { return e.method == "initialize" || e.method == "server/discover" }

// succeeded forgets an earlier failure of the handshake.
func (r *roundTripper) succeeded(msg envelope) {
	if msg.opens() {
		r.noteFailure(nil)
	}
}

// failed records why a call failed, and the handshake with it.
func (r *roundTripper) failed(msg envelope, x *Exchange, err error) {
	x.fail(err)
	if msg.opens() {
		r.noteFailure(err)
	}
}

// broken answers a call with an error of its own, so that the session continues.
func (r *roundTripper) broken(req *http.Request, msg envelope, x *Exchange, err error) *http.Response {
	r.failed(msg, x, err)
	return r.errorReply(req, msg, err.Error())
}

func (r *roundTripper) errorReply(req *http.Request, msg envelope, text string) *http.Response {
	return reply(req, http.StatusOK, "application/json", r.tap.failure(msg.id, text).encode())
}

var unknownSession = pattern.Lazy(`(?i)(session[^.]{0,40}(not found|unknown|invalid|expired|does not exist|missing|terminated|not initialized)|(unknown|invalid|expired|no valid|no such|missing|bad)[^.]{0,20}session)`)

// refusal answers a call with the status and body that the server sent.
func (r *roundTripper) refusal(req *http.Request, resp *http.Response, msg envelope, x *Exchange) *http.Response {
	body := r.peek(resp)
	_ = resp.Body.Close() // read only
	session := req.Header.Get("Mcp-Session-Id") != ""
	gone := resp.StatusCode == http.StatusNotFound && session ||
		(resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusNotFound) && unknownSession().MatchString(body)
	if gone && !msg.opens() {
		x.fail(&SessionLost{"the server forgot the session: " + r.statusError(resp, body).text})
		return r.errorReply(req, msg, "session lost")
	}
	// A JSON-RPC error keeps its code and data: versions are negotiated by them.
	if list, err := readEnvelopes([]byte(body)); err == nil && len(list) == 1 && list[0].err != nil {
		e := list[0]
		e.id, e.result, e.method = msg.id, nil, ""
		r.tap.forget(IDKey(msg.id))
		return reply(req, http.StatusOK, "application/json", e.encode())
	}
	return r.broken(req, msg, x, r.statusError(resp, body))
}

// peek reads the first 4 kB of a body as clean text.
func (r *roundTripper) peek(resp *http.Response) string {
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil && len(body) == 0 {
		return ""
	}
	return r.clean(body)
}

func (r *roundTripper) clean(body []byte) string {
	secrets := r.secrets
	if r.auth != nil {
		secrets = append(slices.Clone(secrets), r.auth.Secrets()...)
	}
	return config.Scrub(text.Ellipsis(strings.TrimSpace(text.Clean(string(body))), 4<<10), secrets)
}

// reply returns a synthetic response.
func reply(req *http.Request, status int, kind string, body []byte) *http.Response {
	h := http.Header{}
	if kind != "" {
		h.Set("Content-Type", kind)
	}
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}
}
