package wire

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/mcp/auth"
	"jcode/mcp/config"
)

// HTTPMode is how a connection is made.
type HTTPMode struct {
	SSE   bool          // the transport of 2024
	Probe time.Duration // limit for an answer to the first question; 0 = none
	// Reopen is the first wait before a stream of notifications is opened again; 0 = half a
	// second.
	Reopen time.Duration
	// SignIn returns the tokens of a server whose headers set no Authorization; nil for none.
	SignIn func() *auth.Session
}

// OpenHTTP makes the connection to a URL; nothing but the headers helper runs yet. limit is
// the length in bytes of the longest message that is kept.
func (h *Host) OpenHTTP(ctx context.Context, t config.Resolved, log *Log, limit int, mode HTTPMode) (*HTTP, error) {
	l, err := newHTTPLink(t, log, limit, mode)
	if err != nil {
		return nil, err
	}
	if len(t.Helper) > 0 {
		l.trip.helper = &headersHelper{host: h, t: t}
		if err := l.trip.helper.run(ctx); err != nil {
			l.cancel()
			return nil, err
		}
	}
	if mode.SignIn != nil && !l.trip.sets("Authorization") {
		l.trip.auth = mode.SignIn()
	}
	h.add(l)
	return l, nil
}

// HTTP is an HTTP session as a link.
type HTTP struct {
	trip   *roundTripper
	mode   HTTPMode
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

func newHTTPLink(t config.Resolved, log *Log, limit int, mode HTTPMode) (*HTTP, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, Permanentf("url: not a URL")
	}
	l := &HTTP{mode: mode, goneCh: make(chan struct{}), lostCh: make(chan struct{})}
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

// keepingTransport is the library's own transport that also remembers the connection. The
// connection must not be wrapped, because the library looks for methods of its own type.
type keepingTransport struct {
	inner sdk.Transport
	l     *HTTP
}

// Connect connects. It uses the context of the link, because the stream of the 2024 transport
// lives as long as its context.
func (t keepingTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	inner, cancel := context.WithCancel(t.l.ctx)
	stop := context.AfterFunc(ctx, cancel)
	conn, err := t.inner.Connect(inner)
	if !stop() && err == nil {
		err = ctx.Err()
		_ = conn.Close() // the link ended meanwhile
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

func (l *HTTP) Transport() sdk.Transport {
	client := &http.Client{Transport: l.trip, CheckRedirect: l.trip.checkRedirect}
	if l.mode.SSE {
		return keepingTransport{&sdk.SSEClientTransport{Endpoint: l.trip.url, HTTPClient: client, MaxEventSize: -1}, l}
	}
	return keepingTransport{&sdk.StreamableClientTransport{Endpoint: l.trip.url, HTTPClient: client, MaxEventSize: -1}, l}
}

func (l *HTTP) Tap() *Tap             { return l.trip.tap }
func (l *HTTP) Gone() <-chan struct{} { return l.goneCh }
func (l *HTTP) Lost() <-chan struct{} { return l.lostCh }
func (l *HTTP) PID() int              { return 0 }
func (l *HTTP) Notifies() bool        { return l.mode.SSE || l.trip.streaming.Load() }

// Close ends the session in the background: the library tells the server, at most for
// five seconds.
func (l *HTTP) Close() {
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

// Kill ends it without telling the server.
func (l *HTTP) Kill() {
	l.cancel()
	l.Close()
}

// Watch notices the end of the library's session.
func (l *HTTP) Watch(cs *sdk.ClientSession) {
	l.trip.wait.Go(func() {
		err := cs.Wait()
		if err == nil {
			err = errors.New("connection lost")
		}
		l.lose(&Fault{Text: err.Error(), Retry: RetryLost, Err: err})
	})
}

// lose marks the session as lost; only the first call has an effect.
func (l *HTTP) lose(why error) {
	l.lostFor.Do(func() {
		l.mu.Lock()
		l.why = why
		l.mu.Unlock()
		close(l.lostCh)
	})
}

func (l *HTTP) Reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}

// ProbeExpired reports whether the first question stayed unanswered for HTTPMode.Probe.
func (l *HTTP) ProbeExpired() bool {
	l.trip.mu.Lock()
	defer l.trip.mu.Unlock()
	return l.trip.expired
}

// HandshakeError returns why a handshake over l failed with err. A cause below the protocol takes precedence
// over the library's error.
func (l *HTTP) HandshakeError(err error) error {
	l.trip.mu.Lock()
	defer l.trip.mu.Unlock()
	return cmp.Or(l.trip.handshake, versionError(err), err)
}
