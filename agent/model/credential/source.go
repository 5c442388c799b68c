package credential

import (
	"context"
	"fmt"
	"net/http"

	"jcode/agent/model/provider"
)

// Source adds to requests what shows who asks. It is safe for concurrent use.
type Source interface {
	// Authorize adds it to a request with a body.
	Authorize(ctx context.Context, req *http.Request, body []byte) error
	// Again is told how a provider answered a request, and reports whether that may pass if it is authorized and sent
	// once more.
	Again(req *http.Request, resp *http.Response) bool
	// Secrets returns what was added lately, which nobody must read.
	Secrets() []string
}

// Of returns the source that a provider's configuration names, nil if its key never changes.
func Of(cfg provider.Config) Source {
	switch {
	case cfg.Cloud == provider.Bedrock && cfg.Key == "":
		return newAWS(cfg)
	case len(cfg.KeyCommand) > 0 && cfg.Key == "":
		return newCommand(cfg)
	}
	return nil
}

// Error says why a request could not be authorized, and what to do.
type Error struct{ Text string }

func (e *Error) Error() string { return e.Text }

func fail(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }
