package dial

import (
	"context"
	"fmt"

	"jcode/agent/model"
	"jcode/agent/model/anthropic"
	"jcode/agent/model/chat"
	"jcode/agent/model/gemini"
	"jcode/agent/model/provider"
	"jcode/agent/model/responses"
)

// Client is a client of one provider.
type Client interface {
	model.Client
	// ListModels asks the endpoint which models it offers, in its order.
	ListModels(ctx context.Context) ([]provider.Listed, error)
	// ProxyInUse names the proxy that the environment sets, "" without one.
	ProxyInUse() string
	// ExtraCertificates reports whether the certificates of NODE_EXTRA_CA_CERTS are used, or why they could not
	// be read.
	ExtraCertificates() (used bool, err error)
	// Close ends idle connections. Running streams continue.
	Close()
}

// Open returns a client for the protocol that the provider speaks. It opens no connection.
func Open(cfg provider.Config) (Client, error) {
	switch cfg.Protocol {
	case provider.Messages:
		return anthropic.New(cfg)
	case provider.Gemini:
		if cfg.Search {
			return nil, fmt.Errorf("providers.%s.web_search: over the protocol gemini jcode does not have the provider search the web: take web_search out", cfg.Name)
		}
		return gemini.New(cfg)
	case provider.Responses:
		return responses.New(cfg)
	case "", provider.Chat:
		if cfg.Search {
			return nil, fmt.Errorf("providers.%s.web_search: over the protocol chat no provider searches the web: set protocol to responses or messages where it speaks that, or take web_search out", cfg.Name)
		}
		return chat.New(cfg)
	}
	return nil, fmt.Errorf("provider %q: unknown protocol %q: it is chat, responses, messages or gemini", cfg.Name, cfg.Protocol)
}

// Lost reports whether a client knows that a part of an earlier answer no longer reaches a model, although it
// is or was sent.
func Lost(c Client, id string, o model.Opaque) bool {
	knows, ok := c.(interface {
		Lost(id string, o model.Opaque) bool
	})
	return ok && knows.Lost(id, o)
}
