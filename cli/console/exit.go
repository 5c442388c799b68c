package console

import (
	"errors"
	"fmt"
)

// Exit codes, which scripts rely on.
const (
	ExitDone   = 0
	ExitModel  = 1   // the model or provider failed
	ExitUsage  = 2   // usage or configuration
	ExitLimit  = 3   // stopped at a limit
	ExitSchema = 4   // the answer does not fit the schema
	ExitNone   = 5   // no answer, or not all of it
	ExitHup    = 129 // ended by a signal
	ExitInt    = 130
	ExitTerm   = 143
)

// Exit is an error with its exit code. A silent one has been reported already.
type Exit struct {
	Code   int
	Silent bool
	Err    error
}

func (e *Exit) Error() string { return e.Err.Error() }
func (e *Exit) Unwrap() error { return e.Err }

// Usage returns an error of usage, with its exit code.
func Usage(format string, args ...any) error {
	return &Exit{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// AsUsage makes an error one of usage; nil stays nil.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	return Usage("%w", err)
}

// Interrupted is the end of a command that the user has interrupted.
func Interrupted() error { return &Exit{Code: ExitInt, Err: errors.New("interrupted")} }
