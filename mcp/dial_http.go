package mcp

import (
	"context"
	"errors"
	"net/http"
	"time"

	"jcode/mcp/auth"
	"jcode/mcp/config"
	"jcode/mcp/wire"
)

// probeLimit is how long the first request in the newest protocol may stay unanswered: many
// servers ignore requests they don't know.
const probeLimit = 3 * time.Second

// sseLimit bounds the attempt with the transport of 2024 after a refusal.
const sseLimit = 5 * time.Second

// connectHTTP connects to a URL: the newest protocol first, then the classic one, then
// the transport of 2024.
func (d dialer) connectHTTP(ctx context.Context, e config.Entry, t config.Resolved, log *wire.Log, hooks sessionHooks) (*session, error) {
	if t.Transport == config.SSE {
		s, _, err := d.openHTTP(ctx, e, t, log, hooks, wire.HTTPMode{SSE: true})
		return s, err
	}
	s, l, err := d.openHTTP(ctx, e, t, log, hooks, wire.HTTPMode{Probe: probeLimit})
	if err != nil && wire.Refused(err) && l.ProbeExpired() && ctx.Err() == nil {
		s, _, err = d.openHTTP(ctx, e, t, log, hooks, wire.HTTPMode{})
	}
	var status *wire.HTTPError
	if err != nil && errors.As(err, &status) && (status.Code == http.StatusNotFound || status.Code == http.StatusMethodNotAllowed) && ctx.Err() == nil {
		short, cancel := context.WithTimeout(ctx, sseLimit)
		old, _, sseErr := d.openHTTP(short, e, t, log, hooks, wire.HTTPMode{SSE: true})
		cancel()
		if sseErr == nil {
			log.Note("connected by the HTTP+SSE transport of 2024")
			return old, nil
		}
		log.Note("the HTTP+SSE transport of 2024 failed too: %v", sseErr)
	}
	if err != nil && wire.Refused(err) {
		err = wire.Permanentf("the server refused to initialize: %s", wire.ErrorText(err))
	}
	return s, err
}

func (d dialer) openHTTP(ctx context.Context, e config.Entry, t config.Resolved, log *wire.Log, hooks sessionHooks, mode wire.HTTPMode) (*session, *wire.HTTP, error) {
	mode.Reopen = d.reopen
	if d.keeper != nil {
		mode.SignIn = func() *auth.Session {
			return d.keeper.For(auth.Server{Name: signInName(e), URL: t.URL, Settings: t.OAuth})
		}
	}
	l, err := d.host.OpenHTTP(ctx, t, log, e.MaxFrame, mode)
	if err != nil {
		return nil, nil, err
	}
	s, err := openSession(ctx, l, log, hooks, newestProtocol)
	if err == nil {
		l.Watch(s.cs)
		return s, l, nil
	}
	return nil, l, l.HandshakeError(err)
}
