package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"jcode/agent/model/endpoint"
	"jcode/agent/model/provider"
)

// Embedder asks an OpenAI-compatible endpoint for embeddings of texts.
type Embedder struct {
	*endpoint.Endpoint
	api  *openai.Client
	id   string
	wait time.Duration // after the first attempt; twice as long after the second
}

// The limits of a request for embeddings.
const (
	embedLimit    = 60 * time.Second
	embedAttempts = 3
	embedWait     = time.Second
)

// NewEmbedder returns an embedder for a model of a provider. It opens no connection. Of the provider's
// limits, Backoff is the wait after the first attempt (default 1 s).
func NewEmbedder(cfg provider.Config, id string) (*Embedder, error) {
	if cfg.Protocol == provider.Gemini { // embeddings are asked for in OpenAI's form, below another address
		address, query := provider.SplitURL(cfg.BaseURL)
		if cfg.BaseURL = address + "/openai"; query != "" {
			cfg.BaseURL += "?" + query
		}
	}
	end, err := endpoint.New(cfg)
	if err != nil {
		return nil, err
	}
	conf := openai.DefaultConfig(string(cfg.Key))
	conf.BaseURL = end.URL("")
	conf.HTTPClient = end.HTTP(bounded{end})
	e := &Embedder{Endpoint: end, api: openai.NewClientWithConfig(conf), id: id, wait: embedWait}
	if cfg.Limits.Backoff > 0 {
		e.wait = cfg.Limits.Backoff
	}
	return e, nil
}

// Model names the model with its provider.
func (e *Embedder) Model() string { return e.Name() + "/" + e.id }

// Embed returns a vector for each text, in the same order. It retries failures that may be temporary.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	for attempt := 1; ; attempt++ {
		out, err := e.ask(ctx, texts)
		if err == nil {
			return out, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		code := status(err)
		passing := code == 0 || code == http.StatusTooManyRequests || code >= 500
		if !passing || attempt == embedAttempts || !endpoint.Sleep(ctx, time.Duration(attempt)*e.wait) {
			return nil, fmt.Errorf("embeddings of %s: %s", e.Model(), e.Redact(err.Error()))
		}
	}
}

func (e *Embedder) ask(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, embedLimit)
	defer cancel()
	resp, err := e.api.CreateEmbeddings(ctx, openai.EmbeddingRequestStrings{
		Input: texts, Model: openai.EmbeddingModel(e.id), EncodingFormat: openai.EmbeddingEncodingFormatFloat,
	})
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for _, d := range resp.Data {
		if d.Index < 0 || d.Index >= len(out) || out[d.Index] != nil {
			return nil, fmt.Errorf("the answer has an embedding for text %d of %d", d.Index, len(texts))
		}
		out[d.Index] = d.Embedding
	}
	for i := range out {
		if len(out[i]) == 0 {
			return nil, fmt.Errorf("the answer has no embedding for text %d of %d", i, len(texts))
		}
	}
	return out, nil
}

// status returns the status code of a refusal, 0 for another fault.
func status(err error) int {
	var api *openai.APIError
	if errors.As(err, &api) {
		return api.HTTPStatusCode
	}
	var req *openai.RequestError
	if errors.As(err, &req) {
		return req.HTTPStatusCode
	}
	return 0
}

// bounded reads at most endpoint.MaxAnswer bytes of an answer.
type bounded struct{ *endpoint.Endpoint }

// RoundTrip sends a request over the endpoint's connections.
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.Endpoint.RoundTrip(req)
	if err == nil {
		if moved := b.Moved(resp); moved != "" { // go-openai reads refusals, but not redirects
			text, _ := json.Marshal(moved) // a text can be encoded
			_ = resp.Body.Close()          // nothing in it is needed
			resp.StatusCode = http.StatusBadRequest
			resp.Body = io.NopCloser(strings.NewReader(`{"error":{"message":` + string(text) + `}}`))
		}
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, endpoint.MaxAnswer), resp.Body}
	}
	return resp, err
}
