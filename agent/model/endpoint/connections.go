package endpoint

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// connections keeps the connections to one endpoint. A connection can die silently: the machine slept, a VPN
// changed, a middlebox dropped it. So idle ones are probed, a failed request discards every connection that
// was open at the time, and they are discarded in advance when the clock jumped since the last request, as it
// does over a sleep.
type connections struct {
	mu   sync.Mutex
	base *http.Transport
	seen time.Time // when the last request began

	ping, pong time.Duration // HTTP/2 probes an idle connection after ping, for pong
	// roots returns the certificates to trust, nil for the system's, or why the extra ones could not be read.
	// Reading them takes longer than a whole start, so it is deferred to the first encrypted connection; checked
	// says that it was done.
	roots   func() (*x509.CertPool, error)
	checked bool
}

// Settings for idle connections.
const (
	pingAfter   = 10 * time.Second // HTTP/2: nothing arrived for so long
	pingTimeout = 5 * time.Second
	idleFor     = 60 * time.Second // an idle connection is closed after
	wokeUp      = 5 * time.Second  // the wall clock advanced this much further than the monotonic one
)

// newConnections returns connections without opening any. A server that may be silent for idle at most is
// probed after a fraction of that.
func newConnections(idle time.Duration) *connections {
	c := &connections{ping: min(pingAfter, idle/8), pong: min(pingTimeout, idle/16)}
	c.roots = sync.OnceValues(func() (*x509.CertPool, error) { return extraCertificates(os.Getenv) })
	c.base = c.open()
	return c
}

// open returns a transport that shares no connection with any other.
func (c *connections) open() *http.Transport {
	dialer := &net.Dialer{
		Timeout:         15 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3},
		Control:         giveUpUnacknowledged,
	}
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		OnProxyConnectResponse: proxyAnswer,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: c.ping, PingTimeout: c.pong},
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        idleFor,
		TLSHandshakeTimeout:    15 * time.Second,
		ExpectContinueTimeout:  time.Second,
		ReadBufferSize:         64 << 10, // a burst of small chunks is one read
		WriteBufferSize:        64 << 10,
		DisableCompression:     true, // a compressed stream arrives in lumps
	}
	if c.checked {
		if roots, err := c.roots(); err == nil && roots != nil { // ExtraCertificates reports an error
			t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		}
	}
	return t
}

// RoundTrip sends a request over a connection that is believed to be alive.
func (c *connections) RoundTrip(req *http.Request) (*http.Response, error) {
	return c.transport(time.Now(), encrypted(req)).RoundTrip(req)
}

// encrypted reports whether a request goes over TLS, to the server or to a proxy.
func encrypted(req *http.Request) bool {
	proxy, err := http.ProxyFromEnvironment(req)
	return req.URL.Scheme != "http" || err == nil && proxy != nil && proxy.Scheme == "https"
}

// transport returns the transport for a request that begins now.
func (c *connections) transport(now time.Time, encrypted bool) *http.Transport {
	c.mu.Lock()
	defer c.mu.Unlock()
	if encrypted && !c.checked {
		c.checked = true
		c.replace()
	}
	if !c.seen.IsZero() && slept(c.seen, now) {
		c.replace()
	}
	c.seen = now
	return c.base
}

// slept reports whether the machine slept between two readings of the clock: the wall clock advanced, the
// monotonic one did not.
func slept(before, now time.Time) bool {
	return now.Round(0).Sub(before.Round(0))-now.Sub(before) > wokeUp
}

// renew makes the next request open a new connection: the open ones may be dead. Running requests keep
// theirs.
func (c *connections) renew() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replace()
}

func (c *connections) replace() {
	old := c.base
	c.base = c.open()
	old.CloseIdleConnections()
}

// close ends idle connections.
func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base.CloseIdleConnections()
}

// extraCertificates returns the system's certificates plus those of NODE_EXTRA_CA_CERTS, the file that
// companies already set for other tools; nil without one. SSL_CERT_FILE and SSL_CERT_DIR replace the
// system's; crypto/x509 handles that.
func extraCertificates(env func(string) string) (*x509.CertPool, error) {
	file := env("NODE_EXTRA_CA_CERTS")
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("NODE_EXTRA_CA_CERTS: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("NODE_EXTRA_CA_CERTS: %s holds no certificate in PEM form", file)
	}
	return pool, nil
}
