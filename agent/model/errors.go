package model

import (
	"fmt"
)

// ErrorClass decides how a failed request is handled.
type ErrorClass string

// The classes.
const (
	ClassAuth     ErrorClass = "auth"     // 401, 403: a key is missing or wrong
	ClassCredit   ErrorClass = "credit"   // 402, insufficient quota
	ClassOverflow ErrorClass = "overflow" // the context window is exceeded: compact
	ClassRequest  ErrorClass = "request"  // another 4xx: the request itself is wrong
	ClassTool     ErrorClass = "tool"     // a 400 that names tools[N]
	ClassImage    ErrorClass = "image"    // a picture was refused
	ClassNetwork  ErrorClass = "network"  // connection refused or cut
	ClassServer   ErrorClass = "server"   // 5xx, 429, overloaded, after all retries
	ClassReplay   ErrorClass = "replay"   // a script's expectation failed
)

// Error is a request that failed for good.
type Error struct {
	Class ErrorClass
	// Status is the HTTP status, 0 without one.
	Status int
	// Text says what happened and what to do; it never holds a key.
	Text string
	// ToolIndex is the tool's index for ClassTool, otherwise -1.
	ToolIndex int
	// Image is the SHA-256 of the picture for ClassImage.
	Image [32]byte
	// Window is the model's window in tokens if a refusal of ClassOverflow names it.
	Window int
	// Tool is the wire name of the tool for ClassTool.
	Tool string
	Err  error
}

// Error returns the text.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (HTTP %d)", e.Text, e.Status)
	}
	return e.Text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
