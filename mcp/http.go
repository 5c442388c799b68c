package mcp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/mcp/auth"
	"jcode/mcp/config"
)

// probeLimit is how long the first question in the newest protocol may stay unanswered:
// many servers ignore what they don't know.
const probeLimit = 3 * time.Second

// sseLimit bounds the try with the transport of 2024 after a refusal.
const sseLimit = 5 * time.Second

// connectHTTP connects to a URL: the newest protocol first, then the classic one, then
// the transport of 2024.
func (d dialer) connectHTTP(ctx context.Context, e config.Entry, t config.Resolved, log *serverLog, hooks sessionHooks) (*session, error) {
	if t.Transport == config.SSE {
		s, _, err := d.openHTTP(ctx, e, t, log, hooks, httpMode{sse: true})
		return s, err
	}
	s, l, err := d.openHTTP(ctx, e, t, log, hooks, httpMode{probe: probeLimit})
	if err != nil && refused(err) && l.probeExpired() && ctx.Err() == nil {
		s, _, err = d.openHTTP(ctx, e, t, log, hooks, httpMode{})
	}
	var status *httpError
	if err != nil && errors.As(err, &status) && (status.code == http.StatusNotFound || status.code == http.StatusMethodNotAllowed) && ctx.Err() == nil {
		short, cancel := context.WithTimeout(ctx, sseLimit)
		old, _, sseErr := d.openHTTP(short, e, t, log, hooks, httpMode{sse: true})
		cancel()
		if sseErr == nil {
			log.note("connected by the HTTP+SSE transport of 2024")
			return old, nil
		}
		log.note("the HTTP+SSE transport of 2024 failed too: %v", sseErr)
	}
	if err != nil && refused(err) {
		err = permanentf("the server refused to initialize: %s", wireText(err))
	}
	return s, err
}

// httpMode is how a connection is made.
type httpMode struct {
	sse   bool          // the transport of 2024
	probe time.Duration // limit for an answer to the first question; 0 = none
	// reopen is the first wait before a stream of notifications is opened again; 0 = half a
	// second.
	reopen time.Duration
}

func (d dialer) openHTTP(ctx context.Context, e config.Entry, t config.Resolved, log *serverLog, hooks sessionHooks, mode httpMode) (*session, *httpLink, error) {
	mode.reopen = d.reopen
	l, err := newHTTPLink(t, log, e.MaxFrame, mode)
	if err != nil {
		return nil, nil, err
	}
	if len(t.Helper) > 0 {
		l.trip.helper = &headersHelper{host: d.host, t: t}
		if err := l.trip.helper.run(ctx); err != nil {
			l.cancel()
			return nil, nil, err
		}
	}
	if d.keeper != nil && !l.trip.sets("Authorization") {
		l.trip.auth = d.keeper.For(auth.Server{Name: signInName(e), URL: t.URL, Settings: t.OAuth})
	}
	d.host.addLink(l)
	s, err := openSession(ctx, l, log, hooks, newestProtocol)
	if err == nil {
		l.watch(s.cs)
		return s, l, nil
	}
	if failure := l.failure(); failure != nil {
		err = failure
	} else if strings.Contains(err.Error(), "unsupported protocol version") {
		err = permanentf("the server speaks a protocol version that jcode does not: %v", err)
	}
	return nil, l, err
}

// httpError is an HTTP status that is no success.
type httpError struct {
	code  int
	text  string // "401 Unauthorized: token expired"
	retry retryKind
	after time.Duration // Retry-After
}

func (e *httpError) Error() string { return e.text }

// httpLink is an HTTP session as a link.
type httpLink struct {
	trip   *roundTripper
	mode   httpMode
	ctx    context.Context // ends with kill
	cancel context.CancelFunc

	once    sync.Once
	goneCh  chan struct{}
	lostCh  chan struct{}
	lostFor sync.Once

	mu   sync.Mutex
	conn sdk.Connection
	why  error
}

func newHTTPLink(t config.Resolved, log *serverLog, limit int, mode httpMode) (*httpLink, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, permanentf("url: not a URL")
	}
	l := &httpLink{mode: mode, goneCh: make(chan struct{}), lostCh: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = 8
	l.trip = &roundTripper{
		base: base, url: t.URL, origin: originOf(u), headers: t.Headers, secrets: config.ScrubLonger(t.Secrets), tap: newTap(true), log: log, limit: limit,
		mode: mode, dead: l.ctx, lose: l.lose,
	}
	return l, nil
}

func originOf(u *url.URL) string { return strings.ToLower(u.Scheme + "://" + u.Host) }

// keepingTransport is the library's own transport; it only keeps the connection, which
// must not be wrapped: the library looks for methods of its own type.
type keepingTransport struct {
	inner sdk.Transport
	l     *httpLink
}

// Connect connects. The stream of the 2024 transport lives as long as the context that it
// is given, so it gets the link's.
func (t keepingTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	inner, cancel := context.WithCancel(t.l.ctx)
	stop := context.AfterFunc(ctx, cancel)
	conn, err := t.inner.Connect(inner)
	if !stop() && err == nil {
		err = ctx.Err()
		_ = conn.Close() // it is not wanted any more
	}
	if err != nil {
		cancel()
		return nil, err
	}
	context.AfterFunc(t.l.ctx, cancel)
	t.l.mu.Lock()
	t.l.conn = conn
	t.l.mu.Unlock()
	return conn, nil
}

func (l *httpLink) transport() sdk.Transport {
	client := &http.Client{Transport: l.trip, CheckRedirect: l.trip.checkRedirect}
	if l.mode.sse {
		return keepingTransport{&sdk.SSEClientTransport{Endpoint: l.trip.endpoint(), HTTPClient: client, MaxEventSize: -1}, l}
	}
	return keepingTransport{&sdk.StreamableClientTransport{Endpoint: l.trip.endpoint(), HTTPClient: client, MaxEventSize: -1}, l}
}

func (l *httpLink) tap() *tap             { return l.trip.tap }
func (l *httpLink) gone() <-chan struct{} { return l.goneCh }
func (l *httpLink) lost() <-chan struct{} { return l.lostCh }
func (l *httpLink) pid() int              { return 0 }
func (l *httpLink) notifies() bool        { return l.mode.sse || l.trip.streaming.Load() }

// close ends the session in the background: the library tells the server, at most for
// five seconds.
func (l *httpLink) close() {
	l.once.Do(func() {
		l.mu.Lock()
		conn := l.conn
		l.mu.Unlock()
		go func() {
			defer close(l.goneCh)
			if conn != nil {
				_ = conn.Close() // the server may be gone
			}
			l.cancel()
			l.trip.wait.Wait()
			l.trip.base.CloseIdleConnections()
		}()
	})
}

// kill ends it without telling the server.
func (l *httpLink) kill() {
	l.cancel()
	l.close()
}

// watch notices the end of the library's session.
func (l *httpLink) watch(cs *sdk.ClientSession) {
	l.trip.wait.Go(func() {
		err := cs.Wait()
		if err == nil {
			err = errors.New("connection lost")
		}
		l.lose(&faultError{text: err.Error(), retry: retryLost, err: err})
	})
}

// lose marks the session as lost, once.
func (l *httpLink) lose(why error) {
	l.lostFor.Do(func() {
		l.mu.Lock()
		l.why = why
		l.mu.Unlock()
		close(l.lostCh)
	})
}

func (l *httpLink) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}

func (l *httpLink) probeExpired() bool {
	l.trip.mu.Lock()
	defer l.trip.mu.Unlock()
	return l.trip.expired
}

// failure is why the handshake failed below the protocol, nil if it did not.
func (l *httpLink) failure() error {
	l.trip.mu.Lock()
	defer l.trip.mu.Unlock()
	return l.trip.failed
}

// networkError makes a short text of a failed request.
func networkError(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if signIn := (*auth.NeedsSignIn)(nil); errors.As(err, &signIn) {
		return &faultError{text: err.Error(), retry: retryNever, err: err}
	}
	return &faultError{text: err.Error(), retry: retryLost, err: err}
}

// statusError reads a status that is no success, with the start of its body.
func statusError(resp *http.Response, body string) *httpError {
	e := &httpError{code: resp.StatusCode, text: fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))}
	if body = strings.TrimSpace(body); body != "" {
		e.text += ": " + body
	}
	switch c := resp.StatusCode; {
	case c == http.StatusUnauthorized || c == http.StatusForbidden:
		e.text += " (" + credentialAdvice(resp.Request) + ")"
	case c == http.StatusRequestTimeout || c == http.StatusTooManyRequests || c >= 500:
		e.retry = retryLost
		if e.after = retryAfter(resp.Header.Get("Retry-After")); e.after > 0 {
			e.text += fmt.Sprintf(" (try again in %.0f s)", math.Ceil(e.after.Seconds()))
		}
	}
	return e
}

// credentialAdvice says what to do about a refusal for want of rights.
func credentialAdvice(req *http.Request) string {
	if req != nil {
		if req.Header.Get("Authorization") != "" {
			return "the Authorization header that is set was refused"
		}
		for name := range req.Header {
			if n := strings.ReplaceAll(name, "-", "_"); isSecretVariable(n) {
				return "the header " + name + " that is set was refused"
			}
		}
	}
	return "set an Authorization header"
}

// longestRetryAfter bounds what a server may ask for.
const longestRetryAfter = 60 * time.Second

// retryAfter reads a Retry-After header: seconds or a date. What it can't read is 0.
func retryAfter(s string) time.Duration {
	var d time.Duration
	if t, err := http.ParseTime(s); err == nil {
		d = time.Until(t)
	} else if secs, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil && !math.IsNaN(secs) {
		d = time.Duration(min(max(secs, 0), longestRetryAfter.Seconds()) * float64(time.Second))
	}
	return min(max(d, 0), longestRetryAfter)
}
