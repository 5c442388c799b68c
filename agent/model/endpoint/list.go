package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/provider"
)

// maxList bounds the reply to a request for the models.
const maxList = 16 << 20

// ListModels asks the endpoint which models it offers, in its order. It is tried once, for
// at most 20 seconds.
func (e *Endpoint) ListModels(ctx context.Context) ([]provider.Listed, error) {
	if e.Config.Cloud == provider.Vertex {
		return nil, nil // it has no list
	}
	return e.ListAt(ctx, "/models", e.KeyHeader())
}

// KeyHeader returns the header that carries the key in most APIs.
func (e *Endpoint) KeyHeader() http.Header {
	header := http.Header{}
	if e.Config.Key != "" {
		header.Set("Authorization", "Bearer "+string(e.Config.Key))
	}
	return header
}

// ListAt asks for the models at a path below the base URL, as ListModels does.
func (e *Endpoint) ListAt(ctx context.Context, path string, header http.Header) ([]provider.Listed, error) {
	body, err := e.Fetch(ctx, path, header)
	if err != nil {
		return nil, err
	}
	list, err := provider.ReadList(body)
	if err != nil {
		return nil, Fail(model.ClassRequest, 0, fmt.Sprintf("%s/models returned no list of models (%s): is the base URL right?", e.Config.Address(), plainText(string(body))), err).Err
	}
	return list, nil
}

// Fetch reads what is at a path below the base URL. It is tried once, for at most 20 seconds.
func (e *Endpoint) Fetch(ctx context.Context, path string, header http.Header) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.Replace(e.URL(path), deployment, "", 1), nil)
	if err != nil {
		return nil, fmt.Errorf("list models of %s: %w", e.Name(), err)
	}
	req.Header = header
	resp, err := e.HTTP(e).Do(req)
	if err != nil {
		if parent := context.Cause(ctx); parent != nil && !errors.Is(parent, context.DeadlineExceeded) {
			return nil, fmt.Errorf("list models of %s: %w", e.Name(), parent)
		}
		return nil, e.broken(&Exchange{}, err).Err
	}
	defer func() { _ = resp.Body.Close() }() // it has been read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxList))
	if err != nil {
		return nil, e.broken(&Exchange{}, err).Err
	}
	if resp.StatusCode >= 300 {
		return nil, e.refusal(&Exchange{status: resp.StatusCode, header: resp.Header, refusal: body}).Err
	}
	return body, nil
}
