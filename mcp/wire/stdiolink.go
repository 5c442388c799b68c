package wire

import (
	"errors"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio is a server process as a link.
type Stdio struct{ conn *stdioConn }

func (l Stdio) Transport() sdk.Transport { return stdioTransport(l) }
func (l Stdio) Tap() *Tap                { return l.conn.tap }
func (l Stdio) Close()                   { _ = l.conn.Close() } // never fails
func (l Stdio) Kill()                    { l.conn.process.kill() }
func (l Stdio) Gone() <-chan struct{}    { return l.conn.process.gone }
func (l Stdio) Lost() <-chan struct{}    { return l.conn.ended }
func (l Stdio) Reason() error            { return l.conn.failure() }
func (l Stdio) Notifies() bool           { return true }
func (l Stdio) PID() int                 { return l.conn.process.p.Pid() }

// HandshakeError returns why a handshake over l failed with err. The process's own reason takes precedence
// over the library's error.
func (l Stdio) HandshakeError(err error) error {
	c := l.conn
	if Refused(err) {
		return err
	}
	if refusal := versionError(err); refusal != nil {
		return refusal
	}
	select {
	case <-c.ended:
		if f, ok := errors.AsType[*Fault](c.failure()); ok {
			return &Fault{Text: f.Text, Retry: RetryEarly, Err: err}
		}
	case <-time.After(0):
	}
	if f, ok := errors.AsType[*Fault](err); ok && f.Retry == RetryExit {
		return &Fault{Text: f.Text, Retry: RetryEarly, Err: err}
	}
	return err
}
