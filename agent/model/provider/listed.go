package provider

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// Listed is a model that an endpoint offers.
type Listed struct {
	ID string
	// Window is the context window that the endpoint states, 0 when it does not.
	Window int
}

// ReadList understands OpenAI's list, a bare list, and Ollama's.
func ReadList(body []byte) ([]Listed, error) {
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
		if json.Unmarshal(p, &e) != nil { // a field of another type: the name is still usable
			var only struct {
				ID string `json:"id"`
			}
			if json.Unmarshal(p, &only) != nil {
				continue
			}
			e = entry{ID: only.ID}
		}
		l := Listed{ID: cmp.Or(e.ID, e.Name)}
		if l.ID == "" {
			continue
		}
		for _, n := range []json.Number{e.Loaded, e.Context, e.Window, e.MaxLen, e.MaxCtx, e.Meta.Ctx, e.Meta.Train} {
			if v, err := n.Int64(); err == nil && v > 0 && l.Window == 0 {
				l.Window = int(v)
			}
		}
		out = append(out, l)
	}
	return out, nil
}

// FirstModel picks the model to use when none is named: the first listed one that matches the provider's
// preferences, else the first that looks made for code, else the first that can chat. It returns false when
// there is none.
func FirstModel(p Config, list []Listed) (Listed, bool) {
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

func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
