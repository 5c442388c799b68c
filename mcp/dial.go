package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"jcode/internal/rawjson"
	"jcode/internal/text"
	"jcode/mcp/auth"
	"jcode/mcp/config"
	"jcode/mcp/schema"
)

const (
	// classicProtocol is asked for first on stdio: many servers exit on, or ignore, the
	// first request of the newest protocol.
	classicProtocol = "2025-11-25"
	newestProtocol  = ""
)

// dialer makes connections.
type dialer struct {
	host   *processHost
	keeper *auth.Keeper // of sign-ins; nil for none
	// mayStart says why an entry's process must not be started now; nil lets all start.
	mayStart func(config.Entry) error
	reopen   time.Duration // see httpMode
}

// dialed is a session with its first tool list.
type dialed struct {
	session *session
	http    bool
	tools   []schema.Tool
	skipped []schema.Skipped
	partial *partialError // later pages of the list are missing
}

// dial connects and lists the tools, within the entry's connect timeout times scale.
func (d dialer) dial(ctx context.Context, e config.Entry, t config.Resolved, log *serverLog, hooks sessionHooks, scale int) (dialed, error) {
	limit := e.ConnectTimeout * time.Duration(max(scale, 1))
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if t.OwnRoots {
		hooks.roots = t.Roots
	}
	out, err := d.connect(timed, e, t, log, hooks)
	if err == nil {
		out.tools, out.skipped, err = out.session.listTools(timed, e.Name, out.http)
		if errors.As(err, &out.partial) && ctx.Err() == nil && out.session.ctx.Err() == nil {
			err = nil // what came counts
		}
		if err != nil {
			out.session.close(errDisconnected)
			err = fmt.Errorf("list tools: %w", err)
		}
	}
	if err == nil {
		return out, nil
	}
	if ctx.Err() == nil && timed.Err() != nil && !isClassified(err) {
		what := fmt.Sprintf("no connection within %s (connectTimeout)", secondsText(limit))
		if tail := log.reason(); tail != "" && t.Transport == config.Stdio {
			what += "; its stderr: " + tail
		}
		return dialed{}, &faultError{text: what, retry: retryTimeout, err: err}
	}
	return dialed{}, err
}

// isClassified reports whether the failure says more than that time was up.
func isClassified(err error) bool {
	var fault *faultError
	var status *httpError
	return errors.As(err, &fault) && fault.retry != retryLost || errors.As(err, &status)
}

func (d dialer) connect(ctx context.Context, e config.Entry, t config.Resolved, log *serverLog, hooks sessionHooks) (dialed, error) {
	if t.Transport != config.Stdio {
		s, err := d.connectHTTP(ctx, e, t, log, hooks)
		return dialed{session: s, http: true}, err
	}
	s, err := d.connectStdio(ctx, e, t, log, hooks, classicProtocol)
	if refused(err) {
		log.note("initialize was refused (%v); asking a fresh process for the newest protocol", err)
		s, err = d.connectStdio(ctx, e, t, log, hooks, newestProtocol)
		if refused(err) {
			err = permanentf("the server refused to initialize: %s", wireText(err))
		}
	}
	return dialed{session: s}, err
}

func (d dialer) connectStdio(ctx context.Context, e config.Entry, t config.Resolved, log *serverLog, hooks sessionHooks, protocol string) (*session, error) {
	if d.mayStart != nil {
		if err := d.mayStart(e); err != nil {
			return nil, err
		}
	}
	p, err := d.host.startProcess(t, log)
	if err != nil {
		return nil, err
	}
	conn := newStdioConn(p, log, e.MaxFrame)
	s, err := openSession(ctx, stdioLink{conn}, log, hooks, protocol)
	if err == nil {
		return s, nil
	}
	return nil, handshakeError(err, conn)
}

// handshakeError prefers the process's own reason to the library's words.
func handshakeError(err error, conn *stdioConn) error {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return err
	}
	if strings.Contains(err.Error(), "unsupported protocol version") {
		return permanentf("the server speaks a protocol version that jcode does not: %v", err)
	}
	select {
	case <-conn.ended:
		if f := (*faultError)(nil); errors.As(conn.failure(), &f) {
			return &faultError{text: f.text, retry: retryEarly, err: err}
		}
	case <-time.After(0):
	}
	var f *faultError
	if errors.As(err, &f) && f.retry == retryExit {
		return &faultError{text: f.text, retry: retryEarly, err: err}
	}
	return err
}

// refused reports whether the server itself answered with an error.
func refused(err error) bool {
	var wire *jsonrpc.Error
	return errors.As(err, &wire)
}

// wireText is the text of a JSON-RPC error with code and data.
func wireText(err error) string {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		return plainError(err)
	}
	message := strings.TrimSpace(wire.Message)
	if message == "" {
		message = "the server gave no reason"
	}
	s := fmt.Sprintf("%s (code %d)", message, wire.Code)
	if len(wire.Data) > 0 && !rawjson.Null(wire.Data) {
		s += ": " + text.Ellipsis(string(wire.Data), 2000)
	}
	return s
}
