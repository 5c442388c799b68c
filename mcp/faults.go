package mcp

import (
	"errors"
	"fmt"

	"jcode/mcp/config"
)

// retryKind says how often a fault is worth another try.
type retryKind int

const (
	retryNever   retryKind = iota // no retry cures it
	retryLost                     // a session that was lost, a refused connection, a 5xx
	retryExit                     // a process that ended
	retryEarly                    // a process that ended before the handshake
	retryTimeout                  // the connect timeout
)

// faultError is a failure of a connection with its retry class.
type faultError struct {
	text  string
	retry retryKind
	err   error
}

func (e *faultError) Error() string { return e.text }
func (e *faultError) Unwrap() error { return e.err }

func permanentf(format string, args ...any) error {
	return &faultError{text: fmt.Sprintf(format, args...), retry: retryNever}
}

// retryOf returns the retry class of a connection's failure; what is not classified is a
// transport error, which is worth a retry.
func retryOf(err error) retryKind {
	var f *faultError
	if errors.As(err, &f) {
		return f.retry
	}
	if entry := (*config.Fault)(nil); errors.As(err, &entry) {
		return retryNever
	}
	var status *httpError
	if errors.As(err, &status) {
		return status.retry
	}
	return retryLost
}
