package wire

import (
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return err
	}
	if refusal := versionError(err); refusal != nil {
		return refusal
	}
	select {
	case <-c.ended:
		if f := (*Fault)(nil); errors.As(c.failure(), &f) {
			return &Fault{Text: f.Text, Retry: RetryEarly, Err: err}
		}
	case <-time.After(0):
	}
	var f *Fault
	if errors.As(err, &f) && f.Retry == RetryExit {
		return &Fault{Text: f.Text, Retry: RetryEarly, Err: err}
	}
	return err
}
