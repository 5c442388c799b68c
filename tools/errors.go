package tools

import (
	"errors"
	"fmt"
)

// ErrorKind classifies a failed call for code that branches. The list is closed.
type ErrorKind string

// The kinds of failure.
const (
	KindNone        ErrorKind = ""
	KindUnknown     ErrorKind = "unknown_intent"
	KindInvalidArgs ErrorKind = "invalid_args"
	KindPermission  ErrorKind = "permission_denied" // capability, manifest, path or environment
	KindDenied      ErrorKind = "denied"            // a person or policy said no
	KindCancelled   ErrorKind = "cancelled"
	KindTimeout     ErrorKind = "timeout"
	KindIO          ErrorKind = "io"
	KindLimit       ErrorKind = "limit"
	KindKilled      ErrorKind = "killed"
	KindBusy        ErrorKind = "busy"
	KindLoad        ErrorKind = "load_error"
	KindUntrusted   ErrorKind = "untrusted"
	KindScript      ErrorKind = "script_error"
	KindRPC         ErrorKind = "rpc"
	KindMCP         ErrorKind = "mcp"
)

// Error is a failure with a kind. Its text is meant for the caller of the tool.
type Error struct {
	Kind ErrorKind
	Text string
	Err  error // cause, may be nil
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error of a kind; %w wraps a cause.
func Errorf(kind ErrorKind, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Text: err.Error(), Err: errors.Unwrap(err)}
}

// KindOf returns the kind of the first Error in err's chain, KindIO for any other error.
func KindOf(err error) ErrorKind {
	if err == nil {
		return KindNone
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return KindIO
}

// Failure returns a failed Result for an error.
func Failure(err error) Result {
	return Result{Text: err.Error(), Failed: true, Kind: KindOf(err)}
}
