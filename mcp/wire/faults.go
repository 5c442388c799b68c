package wire

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"jcode/internal/rawjson"
	"jcode/internal/text"
	"jcode/mcp/config"
)

// Retry is the retry class of a fault.
type Retry int

const (
	RetryNever   Retry = iota // no retry helps
	RetryLost                 // a session that was lost, a refused connection, a 5xx
	RetryExit                 // a process that ended
	RetryEarly                // a process that ended before the handshake
	RetryTimeout              // the connect timeout
)

// Fault is a failure of a connection with its retry class.
type Fault struct {
	Text  string
	Retry Retry
	Err   error
}

func (e *Fault) Error() string { return e.Text }
func (e *Fault) Unwrap() error { return e.Err }

// Permanentf returns a fault that no retry can fix.
func Permanentf(format string, args ...any) error {
	return &Fault{Text: fmt.Sprintf(format, args...), Retry: RetryNever}
}

// RetryOf returns the retry class of a connection's failure; what is not classified is a
// transport error, which is worth a retry.
func RetryOf(err error) Retry {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Retry
	}
	if _, ok := errors.AsType[*config.Fault](err); ok {
		return RetryNever
	}
	if status, ok := errors.AsType[*HTTPError](err); ok {
		return status.retry
	}
	return RetryLost
}

// SessionLost is the error of a call whose session the HTTP server no longer knows.
type SessionLost struct{ text string }

func (e *SessionLost) Error() string { return e.text }

// Refused reports whether the server itself answered with an error.
func Refused(err error) bool {
	_, ok := errors.AsType[*jsonrpc.Error](err)
	return ok
}

// ErrorText returns the text of a JSON-RPC error with its code and data.
func ErrorText(err error) string {
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return text.Clean(text.Valid(err.Error()))
	}
	message := cmp.Or(strings.TrimSpace(wire.Message), "the server gave no reason")
	s := fmt.Sprintf("%s (code %d)", message, wire.Code)
	if len(wire.Data) > 0 && !rawjson.Null(wire.Data) {
		s += ": " + text.Ellipsis(string(wire.Data), 2000)
	}
	return s
}

// versionError returns what to report of a handshake that failed because the library does
// not know the server's protocol version; nil if it failed for another reason.
func versionError(err error) error {
	if strings.Contains(err.Error(), "unsupported protocol version") {
		return Permanentf("the server speaks a protocol version that jcode does not: %v", err)
	}
	return nil
}
