package auth

import (
	"crypto/tls"
	"errors"
	"net/http"
	"time"
)

// Unavailable is the error that an authorization server could not be used for a reason that passes.
// Nobody has to sign in again, and what is stored stays. It does not unwrap to the error of the
// network, which would be about another host than the MCP server.
type Unavailable struct {
	What string // what was tried, and where
	Err  error
}

func (e *Unavailable) Error() string {
	return e.What + ": " + e.Err.Error() + " (try again later)"
}

func unavailable(what string, err error) error {
	if _, ok := errors.AsType[*KeyringError](err); ok {
		return err
	}
	return &Unavailable{what, err}
}

// passes reports whether the cause of an error of the authorization server may pass by itself: the
// network, an overload, a fault of the server, an answer that makes no sense. A refusal doesn't.
func passes(err error) bool {
	if r, ok := errors.AsType[*refusedError](err); ok {
		return r.Code == "temporarily_unavailable" || r.Code == "server_error" || r.Code == "" && passingStatus(r.status)
	}
	if s, ok := errors.AsType[*statusError](err); ok {
		return passingStatus(s.status)
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	if _, ok := errors.AsType[ruleError](err); ok {
		return false
	}
	_, ok := errors.AsType[*networkError](err)
	return ok
}

// ruleError is the error that a request breaks a rule of ours, whatever the network does.
type ruleError string

func (e ruleError) Error() string { return string(e) }

func passingStatus(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500
}

// networkError is the failure of a request that has no response, or only a part of one.
type networkError struct{ err error }

func (e *networkError) Error() string { return e.err.Error() }
func (e *networkError) Unwrap() error { return e.err }

const (
	// askTries is how often a token endpoint is asked that can't answer at the moment.
	askTries = 3
	// askPatience is the time after which it is not asked again.
	askPatience = 5 * time.Second
	// askPause is the time before it is asked again the first time.
	askPause = 400 * time.Millisecond
)
