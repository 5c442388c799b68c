package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"jcode/internal/schema"
	"jcode/internal/text"
	"jcode/mcp/auth"
	"jcode/mcp/config"
)

// roundTripper stands between the protocol library and the network. It adds the
// configured headers, reads results raw as the tap wants, turns every failure of one
// request into the failure of that call, and keeps the stream of notifications open, so
// that no single fault ends a session.
type roundTripper struct {
	base    *http.Transport
	origin  string
	headers map[string]string
	secrets []string
	auth    *auth.Session  // nil where nobody signs in
	helper  *headersHelper // nil without one
	tap     *tap
	log     *serverLog
	limit   int
	mode    httpMode
	dead    context.Context // ends all requests
	lose    func(error)
	url     string
	wait    sync.WaitGroup
	// streaming says that a stream of notifications is open.
	streaming atomic.Bool

	mu      sync.Mutex
	failed  error // of the handshake
	expired bool  // the probe stayed unanswered
}

func (r *roundTripper) endpoint() string { return r.url }

// checkRedirect follows redirects that keep the method.
func (r *roundTripper) checkRedirect(req *http.Request, via []*http.Request) error {
	if req.Method != via[0].Method {
		return fmt.Errorf("redirected to %s in a way that loses the request: configure that URL", req.URL.Redacted())
	}
	if len(via) > 5 {
		return errors.New("redirected more than 5 times")
	}
	return nil
}

// RoundTrip carries out one request of the library.
func (r *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	switch {
	case req.Method == http.MethodPost:
		return r.post(req)
	case req.Method == http.MethodGet && r.mode.sse:
		return r.filtered(req)
	case req.Method == http.MethodGet && req.Header.Get("Last-Event-ID") == "":
		return r.keep(req, nil), nil
	case req.Method == http.MethodGet:
		return r.filtered(req)
	}
	return r.send(req)
}

// sets reports whether a header is configured, or comes from the helper.
func (r *roundTripper) sets(name string) bool {
	for _, list := range []map[string]string{r.headers, r.helper.headers()} {
		for k := range list {
			if strings.EqualFold(k, name) {
				return true
			}
		}
	}
	return false
}

// send sends, and again where a refusal can be answered by other credentials.
func (r *roundTripper) send(req *http.Request) (*http.Response, error) {
	for helped := false; ; {
		resp, token, err := r.sendOnce(req)
		if err != nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden || originOf(req.URL) != r.origin {
			return resp, err
		}
		again := false
		switch {
		case r.helper != nil && !helped && resp.StatusCode == http.StatusUnauthorized:
			helped = true
			err = r.helper.run(req.Context())
			again = err == nil
		case r.auth != nil:
			again, err = r.auth.Challenge(req.Context(), resp, token)
		}
		if err == nil && !again || again && req.Body != nil && req.GetBody == nil {
			return resp, nil
		}
		_ = resp.Body.Close() // it is answered
		if err != nil {
			return nil, err
		}
	}
}

// sendOnce adds the configured headers and the token, for the configured origin only, and
// sends. It returns the token that was sent.
func (r *roundTripper) sendOnce(req *http.Request) (*http.Response, string, error) {
	token := ""
	if r.auth != nil && originOf(req.URL) == r.origin {
		var err error
		if token, err = r.auth.Token(req.Context()); err != nil {
			return nil, "", err
		}
	}
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(r.dead, cancel)
	fail := func(err error) (*http.Response, string, error) {
		stop()
		cancel()
		return nil, token, err
	}
	out := req.Clone(ctx)
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return fail(err)
		}
		out.Body = body
	}
	if originOf(out.URL) == r.origin {
		for _, list := range []map[string]string{r.headers, r.helper.headers()} {
			for k, v := range list {
				out.Header.Set(k, v)
				if http.CanonicalHeaderKey(k) == "Host" {
					out.Host = v
				}
			}
		}
		if token != "" {
			out.Header.Set("Authorization", "Bearer "+token)
		}
	} else {
		out.Header.Del("Mcp-Session-Id")
	}
	resp, err := r.base.RoundTrip(out)
	if err != nil {
		return fail(err)
	}
	resp.Body = &endingBody{ReadCloser: resp.Body, end: func() { stop(); cancel() }}
	return resp, token, nil
}

// endingBody calls end when it is closed.
type endingBody struct {
	io.ReadCloser
	end func()
}

func (b *endingBody) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	return err
}

// post sends one message.
func (r *roundTripper) post(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close() // it is memory
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.ContentLength = int64(len(body))
	msg, ok := readEnvelope(bytes.TrimSpace(body))
	if !ok || msg.method == "" || msg.id == nil {
		return r.postNotice(req, msg)
	}
	if msg.method == "subscriptions/listen" {
		return r.keep(req, body), nil
	}
	x := exchangeOf(req.Context(), msg.method)
	r.tap.request(idKey(msg.id), msg.method, x)
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{WroteHeaders: x.markSent}))
	resp, err := r.sendProbed(req, msg.method)
	if err != nil {
		r.tap.forget(idKey(msg.id))
		return nil, r.fail(msg, x, err)
	}
	if r.mode.sse {
		return r.acceptedSSE(resp, msg, x)
	}
	return r.answer(req, resp, msg, x)
}

// postNotice sends a message that has no answer. A server that refuses it is noted; the
// session goes on.
func (r *roundTripper) postNotice(req *http.Request, msg envelope) (*http.Response, error) {
	resp, err := r.send(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	r.log.note("%s was answered with %s", msg.method, statusError(resp, r.peek(resp)).text)
	_ = resp.Body.Close() // what it holds was read
	return reply(req, http.StatusAccepted, "", nil), nil
}

// sendProbed sends a request; the first question in the newest protocol has a limit.
func (r *roundTripper) sendProbed(req *http.Request, method string) (*http.Response, error) {
	if method != "server/discover" || r.mode.probe <= 0 {
		return r.send(req)
	}
	ctx, cancel := context.WithCancel(req.Context())
	var late sync.Once
	expired := false
	timer := time.AfterFunc(r.mode.probe, func() { late.Do(func() { expired = true; cancel() }) })
	resp, err := r.send(req.WithContext(ctx))
	timer.Stop()
	late.Do(func() {}) // from here on the limit does not count
	if expired {
		r.mu.Lock()
		r.expired = true
		r.mu.Unlock()
		if err == nil {
			_ = resp.Body.Close() // too late
		}
		return nil, errProbe
	}
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &endingBody{ReadCloser: resp.Body, end: cancel}
	return resp, nil
}

var errProbe = errors.New("no answer to server/discover")

// fail notes why a request failed below the protocol and returns the error for the library.
func (r *roundTripper) fail(msg envelope, x *exchange, err error) error {
	failure := networkError(err)
	x.fail(failure)
	switch {
	case errors.Is(err, errProbe):
		return err
	case msg.method == "initialize" || msg.method == "server/discover":
		r.noteFailure(failure)
	case isDialError(err), needsPerson(err):
		r.lose(failure)
	}
	return err
}

// needsPerson reports whether the whole server waits for a sign-in; one with more rights is
// the affair of a call.
func needsPerson(err error) bool {
	var signIn *auth.NeedsSignIn
	return errors.As(err, &signIn) && !signIn.StepUp
}

func (r *roundTripper) noteFailure(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = err
}

// isDialError reports whether the server can't be reached at all.
func isDialError(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
}

// acceptedSSE takes the answer to a message in the transport of 2024, in which results
// come on the stream.
func (r *roundTripper) acceptedSSE(resp *http.Response, msg envelope, x *exchange) (*http.Response, error) {
	if resp.StatusCode < 400 {
		return resp, nil
	}
	e := statusError(resp, r.peek(resp))
	x.fail(e)
	if msg.method == "initialize" || msg.method == "server/discover" {
		r.noteFailure(e)
	}
	return resp, nil
}

// answer makes what the library can read out of any answer to a call.
func (r *roundTripper) answer(req *http.Request, resp *http.Response, msg envelope, x *exchange) (*http.Response, error) {
	kind, _, _ := strings.Cut(strings.ToLower(resp.Header.Get("Content-Type")), ";")
	kind = strings.TrimSpace(kind)
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return resp, nil // the client follows it
	case resp.StatusCode >= 400:
		return r.refusal(req, resp, msg, x), nil
	case kind == "text/event-stream":
		resp.Body = r.filter(resp.Body, msg.id)
		resp.ContentLength = -1
		r.succeeded(msg)
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }() // read as far as it counts
	limit := r.limit
	if limit <= 0 {
		limit = config.DefaultMaxFrame
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	switch {
	case err != nil:
		return r.broken(req, msg, x, fmt.Errorf("the answer was cut: %w", err)), nil
	case len(body) > limit:
		return r.broken(req, msg, x, tooLargeError{limit}), nil
	case len(bytes.TrimSpace(body)) == 0:
		return r.broken(req, msg, x, fmt.Errorf("the server sent no answer (status %d)", resp.StatusCode)), nil
	}
	list, err := readEnvelopes(body)
	if err != nil && kind != "application/json" {
		e := permanentf("this is no MCP endpoint: it answered %s", orNone(kind))
		return r.broken(req, msg, x, e), nil
	}
	if err != nil {
		return r.broken(req, msg, x, errors.New("the answer is no JSON-RPC message: "+r.clean(body))), nil
	}
	i := slices.IndexFunc(list, func(e envelope) bool { return e.method == "" && idKey(e.id) == idKey(msg.id) })
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

func orNone(kind string) string {
	if kind == "" {
		return "without a content type"
	}
	return kind
}

// succeeded forgets an earlier failure of the handshake.
func (r *roundTripper) succeeded(msg envelope) {
	if msg.method == "initialize" || msg.method == "server/discover" {
		r.noteFailure(nil)
	}
}

// broken answers a call with a failure of its own: the session goes on.
func (r *roundTripper) broken(req *http.Request, msg envelope, x *exchange, err error) *http.Response {
	x.fail(err)
	if msg.method == "initialize" || msg.method == "server/discover" {
		r.noteFailure(err)
	}
	return r.errorReply(req, msg, err.Error())
}

func (r *roundTripper) errorReply(req *http.Request, msg envelope, text string) *http.Response {
	r.tap.forget(idKey(msg.id))
	o := schema.NewObject()
	o.Set("code", json.Number("-32603"))
	o.Set("message", text)
	e := envelope{id: msg.id, err: schema.Print(o)}
	return reply(req, http.StatusOK, "application/json", e.encode())
}

var unknownSession = regexp.MustCompile(`(?i)(session[^.]{0,40}(not found|unknown|invalid|expired|does not exist|missing|terminated|not initialized)|(unknown|invalid|expired|no valid|no such|missing|bad)[^.]{0,20}session)`)

// refusal answers a call with the status and body that the server sent.
func (r *roundTripper) refusal(req *http.Request, resp *http.Response, msg envelope, x *exchange) *http.Response {
	body := r.peek(resp)
	_ = resp.Body.Close() // what counts was read
	session := req.Header.Get("Mcp-Session-Id") != ""
	gone := resp.StatusCode == http.StatusNotFound && session ||
		(resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusNotFound) && unknownSession.MatchString(body)
	if gone && msg.method != "initialize" && msg.method != "server/discover" {
		x.fail(&sessionLostError{"the server forgot the session: " + statusError(resp, body).text})
		return r.errorReply(req, msg, "session lost")
	}
	// A JSON-RPC error keeps its code and data: versions are negotiated by them.
	if list, err := readEnvelopes([]byte(body)); err == nil && len(list) == 1 && list[0].err != nil {
		e := list[0]
		e.id, e.result, e.method = msg.id, nil, ""
		r.tap.forget(idKey(msg.id))
		return reply(req, http.StatusOK, "application/json", e.encode())
	}
	e := statusError(resp, body)
	x.fail(e)
	if msg.method == "initialize" || msg.method == "server/discover" {
		r.noteFailure(e)
	}
	return r.errorReply(req, msg, e.text)
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

// filtered passes a stream of events on, as the library can read it.
func (r *roundTripper) filtered(req *http.Request) (*http.Response, error) {
	resp, err := r.send(req)
	if err != nil {
		r.noteFailure(networkError(err))
		return nil, err
	}
	if resp.StatusCode >= 400 && r.mode.sse {
		r.noteFailure(statusError(resp, r.peek(resp)))
		return resp, nil
	}
	if strings.HasPrefix(strings.ToLower(resp.Header.Get("Content-Type")), "text/event-stream") {
		resp.Body = r.filter(resp.Body, nil)
		resp.ContentLength = -1
	}
	return resp, nil
}

// reply makes a response out of nothing.
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

// encode writes a message as JSON. A response's id is written as jcode chose it.
func (e envelope) encode() []byte {
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0"`)
	if e.id != nil {
		id := e.id
		if key := idKey(e.id); e.method == "" && key[0] != 's' {
			id = json.RawMessage(key)
		}
		b.WriteString(`,"id":`)
		b.Write(id)
	}
	if e.method != "" {
		b.WriteString(`,"method":`)
		schema.WriteString(&b, e.method)
		if e.params != nil {
			b.WriteString(`,"params":`)
			b.Write(e.params)
		}
	} else if e.err != nil {
		b.WriteString(`,"error":`)
		var err bytes.Buffer
		if wire := wireError(e.err); json.NewEncoder(&err).Encode(wire) == nil {
			b.Write(bytes.TrimSpace(err.Bytes()))
		} else {
			b.Write(e.err)
		}
	} else {
		result := e.result
		if result == nil {
			result = json.RawMessage("null")
		}
		b.WriteString(`,"result":`)
		b.Write(result)
	}
	b.WriteByte('}')
	return b.Bytes()
}
