package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// post sends one message.
func (r *roundTripper) post(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close() // it is in memory
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
	r.tap.request(IDKey(msg.id), msg.method, x)
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{WroteHeaders: x.markSent}))
	resp, err := r.sendProbed(req, msg.method)
	if err != nil {
		r.tap.forget(IDKey(msg.id))
		return nil, r.fail(msg, x, err)
	}
	if r.mode.SSE {
		return r.acceptedSSE(resp, msg, x)
	}
	return r.answer(req, resp, msg, x)
}

// postNotice sends a message that has no answer. A refusal is logged, and the session continues.
func (r *roundTripper) postNotice(req *http.Request, msg envelope) (*http.Response, error) {
	resp, err := r.send(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	r.log.Note("%s was answered with %s", msg.method, r.statusError(resp, r.peek(resp)).text)
	_ = resp.Body.Close() // read only
	return reply(req, http.StatusAccepted, "", nil), nil
}

// sendProbed sends a request; the first one in the newest protocol has a time limit.
func (r *roundTripper) sendProbed(req *http.Request, method string) (*http.Response, error) {
	if method != "server/discover" || r.mode.Probe <= 0 {
		return r.send(req)
	}
	ctx, cancel := context.WithCancel(req.Context())
	var late sync.Once
	expired := false
	timer := time.AfterFunc(r.mode.Probe, func() { late.Do(func() { expired = true; cancel() }) })
	resp, err := r.send(req.WithContext(ctx))
	timer.Stop()
	late.Do(func() {}) // the answer has come: disarm the limit
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
