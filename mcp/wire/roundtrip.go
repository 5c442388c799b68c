package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"jcode/mcp/auth"
)

// roundTripper is the HTTP transport of the protocol library. It adds the configured headers,
// passes raw results to the tap, turns every failure of one request into the failure of that
// call, and keeps the stream of notifications open, so that no single fault ends a session.
type roundTripper struct {
	base    *http.Transport
	origin  string
	headers map[string]string
	secrets []string
	auth    *auth.Session  // nil without sign-in
	helper  *headersHelper // nil without one
	tap     *Tap
	log     *Log
	limit   int
	mode    HTTPMode
	dead    context.Context // ends all requests
	lose    func(error)
	url     string
	wait    sync.WaitGroup
	// streaming says that a stream of notifications is open.
	streaming atomic.Bool

	mu        sync.Mutex
	handshake error // why it failed
	expired   bool  // the probe stayed unanswered
}

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
	case req.Method == http.MethodGet && r.mode.SSE:
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

// maxTries bounds how often a request is sent whose refusals could each be answered.
const maxTries = 6

// send sends a request, and again with other credentials if that can answer a refusal.
func (r *roundTripper) send(req *http.Request) (*http.Response, error) {
	helped := false
	for tries := 1; ; tries++ {
		resp, token, err := r.sendOnce(req)
		if err != nil || tries == maxTries || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden || originOf(req.URL) != r.origin {
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
		_ = resp.Body.Close() // the request is repeated
		if err != nil {
			return nil, err
		}
	}
}

// sendOnce adds the configured headers and the token, for the configured origin only, and
// sends. It returns the token that was sent.
func (r *roundTripper) sendOnce(req *http.Request) (*http.Response, string, error) {
	token, signs := "", r.auth != nil && originOf(req.URL) == r.origin
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
	} else {
		out.Header.Del("Mcp-Session-Id")
	}
	if signs {
		var err error
		if token, err = r.auth.Authorize(req.Context(), out); err != nil {
			return fail(err)
		}
	}
	resp, err := r.base.RoundTrip(out)
	if err != nil {
		return fail(err)
	}
	if signs {
		r.auth.Heard(out, resp)
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

// fail records why a request failed below the protocol and returns the error for the library.
func (r *roundTripper) fail(msg envelope, x *Exchange, err error) error {
	failure := networkError(err)
	x.fail(failure)
	switch {
	case errors.Is(err, errProbe):
		return err
	case msg.opens():
		r.noteFailure(failure)
	case isDialError(err), needsPerson(err):
		r.lose(failure)
	}
	return err
}

// needsPerson reports whether the whole server needs a sign-in. A lack of rights concerns only
// the call that was refused.
func needsPerson(err error) bool {
	var signIn *auth.NeedsSignIn
	return errors.As(err, &signIn) && !signIn.StepUp
}

func (r *roundTripper) noteFailure(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handshake = err
}

// isDialError reports whether the server can't be reached at all.
func isDialError(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
}

// filtered passes on a stream of events in the form that the library can read.
func (r *roundTripper) filtered(req *http.Request) (*http.Response, error) {
	resp, err := r.send(req)
	if err != nil {
		r.noteFailure(networkError(err))
		return nil, err
	}
	if resp.StatusCode >= 400 && r.mode.SSE {
		r.noteFailure(r.statusError(resp, r.peek(resp)))
		return resp, nil
	}
	if isEventStream(resp) {
		r.filterBody(resp, nil)
	}
	return resp, nil
}
