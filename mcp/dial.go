package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jcode/mcp/auth"
	"jcode/mcp/config"
	"jcode/mcp/schema"
	"jcode/mcp/wire"
)

const (
	// classicProtocol is the version requested first on stdio: many servers exit on, or ignore,
	// the first request of the newest protocol.
	classicProtocol = "2025-11-25"
	newestProtocol  = ""
)

// dialer makes connections.
type dialer struct {
	host   *wire.Host
	keeper *auth.Keeper // of sign-ins; nil for none
	// mayStart returns why an entry's process must not be started now; nil allows all.
	mayStart func(config.Entry) error
	reopen   time.Duration // see httpMode
	// rights returns how an entry's programs run; nil runs them as they are.
	rights func(config.Entry) Rights
	// peer returns the server of a name that a program serves over a line, nil for none.
	peer func(name string) *wire.Peer
}

// dialed is a session with its first tool list.
type dialed struct {
	session *session
	http    bool
	tools   []schema.Tool
	skipped []schema.Skipped
	partial *partialError // set when later pages of the list are missing
}

// dial connects and lists the tools, within the entry's connect timeout times scale.
func (d dialer) dial(ctx context.Context, e config.Entry, t config.Resolved, log *wire.Log, hooks sessionHooks, scale int) (dialed, error) {
	limit := e.ConnectTimeout * time.Duration(max(scale, 1))
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if t.OwnRoots {
		hooks.roots = t.Roots
	}
	var rights Rights
	if d.rights != nil {
		rights = d.rights(e)
		t.Confine = rights.start
	}
	out, err := d.connect(timed, e, t, log, hooks)
	if err == nil {
		out.tools, out.skipped, err = out.session.listTools(timed, e.Name, out.http)
		if errors.As(err, &out.partial) && ctx.Err() == nil && out.session.ctx.Err() == nil {
			err = nil // use the pages that were read
		}
		if err != nil {
			out.session.close(errDisconnected)
			err = fmt.Errorf("list tools: %w", err)
		}
	}
	if err == nil {
		return out, nil
	}
	if more := rights.refused(log.Tail()); more != "" && ctx.Err() == nil {
		return dialed{}, &wire.Fault{Text: plainError(err) + "; " + more, Retry: wire.RetryNever, Err: err}
	}
	if ctx.Err() == nil && timed.Err() != nil && !isClassified(err) {
		what := fmt.Sprintf("no connection within %s (connectTimeout)", secondsText(limit))
		if tail := log.Reason(); tail != "" && t.Transport == config.Stdio {
			what += "; its stderr: " + tail
		}
		return dialed{}, &wire.Fault{Text: what, Retry: wire.RetryTimeout, Err: err}
	}
	return dialed{}, err
}

// isClassified reports whether the failure has a more specific cause than a timeout.
func isClassified(err error) bool {
	var fault *wire.Fault
	var status *wire.HTTPError
	return errors.As(err, &fault) && fault.Retry != wire.RetryLost || errors.As(err, &status)
}

func (d dialer) connect(ctx context.Context, e config.Entry, t config.Resolved, log *wire.Log, hooks sessionHooks) (dialed, error) {
	if t.Transport == config.Line {
		s, err := d.connectPeer(ctx, e, log, hooks)
		return dialed{session: s}, err
	}
	if t.Transport != config.Stdio {
		s, err := d.connectHTTP(ctx, e, t, log, hooks)
		return dialed{session: s, http: true}, err
	}
	s, err := d.connectStdio(ctx, e, t, log, hooks, classicProtocol)
	if wire.Refused(err) {
		log.Note("initialize was refused (%v); asking a fresh process for the newest protocol", err)
		s, err = d.connectStdio(ctx, e, t, log, hooks, newestProtocol)
		if wire.Refused(err) {
			err = wire.Permanentf("the server refused to initialize: %s", wire.ErrorText(err))
		}
	}
	return dialed{session: s}, err
}

func (d dialer) connectStdio(ctx context.Context, e config.Entry, t config.Resolved, log *wire.Log, hooks sessionHooks, protocol string) (*session, error) {
	if d.mayStart != nil {
		if err := d.mayStart(e); err != nil {
			return nil, err
		}
	}
	l, err := d.host.StartStdio(t, log, e.MaxFrame)
	if err != nil {
		return nil, err
	}
	s, err := openSession(ctx, l, log, hooks, protocol)
	if err != nil {
		return nil, l.HandshakeError(err)
	}
	return s, nil
}
