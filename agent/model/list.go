package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Listed is a model that an endpoint offers.
type Listed struct {
	ID string
	// Window is the context window that the endpoint states, 0 when it does not.
	Window int
}

// maxList bounds the answer to a request for the models.
const maxList = 16 << 20

// ListModels asks the endpoint which models it offers, in its order. It is tried once, for
// at most 20 seconds.
func (c *OpenAI) ListModels(ctx context.Context) ([]Listed, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(c.cfg.BaseURL, "/")+"/models", nil)
	if err != nil {
		return nil, fmt.Errorf("list models of %s: %w", c.name(), err)
	}
	if c.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+string(c.cfg.Key))
	}
	resp, err := (&http.Client{Transport: c.transport}).Do(req)
	if err != nil {
		if parent := context.Cause(ctx); parent != nil && !errors.Is(parent, context.DeadlineExceeded) {
			return nil, fmt.Errorf("list models of %s: %w", c.name(), parent)
		}
		return nil, c.broken(&exchange{}, err).err
	}
	defer func() { _ = resp.Body.Close() }() // it has been read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxList))
	if err != nil {
		return nil, c.broken(&exchange{}, err).err
	}
	if resp.StatusCode >= 300 {
		return nil, c.refusal(&exchange{status: resp.StatusCode, header: resp.Header, refusal: body}).err
	}
	list, err := readList(body)
	if err != nil {
		return nil, fail(ClassRequest, 0, fmt.Sprintf("%s/models gives no list of models (%s): is the base URL right?", c.cfg.Address(), plainText(string(body))), err).err
	}
	return list, nil
}

// readList understands OpenAI's list, a bare list, and Ollama's.
func readList(body []byte) ([]Listed, error) {
	type entry struct {
		ID      string      `json:"id"`
		Name    string      `json:"name"`
		Context json.Number `json:"context_length"`
		Window  json.Number `json:"context_window"`
		MaxLen  json.Number `json:"max_model_len"`
		MaxCtx  json.Number `json:"max_context_length"`
		Loaded  json.Number `json:"loaded_context_length"`
		Meta    struct {
			Ctx   json.Number `json:"n_ctx"`
			Train json.Number `json:"n_ctx_train"`
		} `json:"meta"`
	}
	var doc struct {
		Data   json.RawMessage `json:"data"`
		Models json.RawMessage `json:"models"`
	}
	raw := json.RawMessage(body)
	if json.Unmarshal(body, &doc) == nil {
		raw = doc.Data
		if len(raw) == 0 {
			raw = doc.Models
		}
	}
	var parts []json.RawMessage
	if len(raw) == 0 {
		return nil, errors.New("no list")
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, err
	}
	out := make([]Listed, 0, len(parts))
	for _, p := range parts {
		var e entry
		if json.Unmarshal(p, &e) != nil { // a field of another type: the name still counts
			var only struct {
				ID string `json:"id"`
			}
			if json.Unmarshal(p, &only) != nil {
				continue
			}
			e = entry{ID: only.ID}
		}
		if e.ID == "" {
			e.ID = e.Name
		}
		if e.ID == "" {
			continue
		}
		l := Listed{ID: e.ID}
		for _, n := range []json.Number{e.Loaded, e.Context, e.Window, e.MaxLen, e.MaxCtx, e.Meta.Ctx, e.Meta.Train} {
			if v, err := n.Int64(); err == nil && v > 0 && l.Window == 0 {
				l.Window = int(v)
			}
		}
		out = append(out, l)
	}
	return out, nil
}

// FirstModel picks the model to use when none is named: the first listed one that the
// provider's preferences match, else the first that looks made for code, else the first
// that can talk. False when the list holds none.
func FirstModel(p ProviderConfig, list []Listed) (Listed, bool) {
	var talk []Listed
	for _, l := range list {
		if !containsAny(strings.ToLower(l.ID), []string{
			"embed", "whisper", "tts", "image", "dall-e", "moderation", "audio", "realtime", "rerank", "transcri",
			"guard", "sora", "veo", "imagen", "lyria", "ocr", "voxtral", "babbage", "davinci", "instruct-0914", "search", "live", "robotics", "aqa",
		}) {
			talk = append(talk, l)
		}
	}
	for _, want := range p.Prefer {
		for _, l := range talk {
			if strings.HasPrefix(strings.TrimPrefix(l.ID, "models/"), want) {
				return l, true
			}
		}
	}
	for _, l := range talk {
		if containsAny(strings.ToLower(l.ID), []string{"coder", "code", "devstral"}) {
			return l, true
		}
	}
	if len(talk) == 0 {
		return Listed{}, false
	}
	return talk[0], true
}

// Found is a server that answered on this machine.
type Found struct {
	Provider ProviderConfig
	Models   []Listed
}

// localWait is how long a server on this machine may take to list its models.
const localWait = 600 * time.Millisecond

// DetectLocal asks the local ones of the given providers for their models, all at once,
// and gives those that answered, in the given order. It takes 0.6 seconds at most.
func DetectLocal(ctx context.Context, providers []ProviderConfig) []Found {
	ctx, cancel := context.WithTimeout(ctx, localWait)
	defer cancel()
	found := make([]*Found, len(providers))
	var wg sync.WaitGroup
	for i, p := range providers {
		if !p.Local {
			continue
		}
		wg.Go(func() {
			c, err := NewOpenAI(p)
			if err != nil {
				return // a wrong URL in config is reported where it is used
			}
			defer c.Close()
			if list, err := c.ListModels(ctx); err == nil {
				found[i] = &Found{Provider: p, Models: list}
			}
		})
	}
	wg.Wait()
	var out []Found
	for _, f := range found {
		if f != nil {
			out = append(out, *f)
		}
	}
	return out
}
