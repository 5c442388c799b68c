package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"jcode/agent/model/endpoint"
	"jcode/agent/model/provider"
)

// readFrames assembles the answer from the frames in which Bedrock puts the events of a stream. A regular end is not an
// error.
func (a *answer) readFrames(body io.Reader) error {
	decoder := eventstream.NewDecoder()
	buf := make([]byte, 0, 32<<10)
	for !a.stopped {
		m, err := decoder.Decode(body, buf)
		switch {
		case errors.Is(err, io.EOF) && a.reason != "":
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		if of := headerOf(m, ":exception-type"); of != "" || headerOf(m, ":error-code") != "" {
			return a.x.Faulted(exception(of+headerOf(m, ":error-code"), m))
		}
		var chunk struct {
			Bytes []byte `json:"bytes"`
		}
		if json.Unmarshal(m.Payload, &chunk) != nil || len(chunk.Bytes) == 0 {
			continue // frames of other kinds
		}
		if err := a.take(chunk.Bytes); err != nil {
			return err
		}
	}
	return nil
}

func headerOf(m eventstream.Message, name string) string {
	if v := m.Headers.Get(name); v != nil {
		return v.String()
	}
	return ""
}

// exception returns an exception within a stream as an error in the form that others have.
func exception(kind string, m eventstream.Message) []byte {
	var said struct {
		Message  string `json:"message"`
		Original int    `json:"originalStatusCode"`
	}
	_ = json.Unmarshal(m.Payload, &said) // an exception without words is one, too
	if said.Message == "" {
		said.Message = headerOf(m, ":error-message")
	}
	e := map[string]any{"message": said.Message, "type": kind}
	switch kind {
	case "validationException":
		e["code"] = http.StatusBadRequest
	case "throttlingException":
		e["code"] = http.StatusTooManyRequests
	default:
		if e["code"] = http.StatusServiceUnavailable; said.Original > 0 {
			e["code"] = said.Original
		}
	}
	raw, err := json.Marshal(map[string]any{"error": e})
	if err != nil {
		return m.Payload
	}
	return raw
}

// listBedrock asks for the models of Anthropic and for the inference profiles, by which newer models are asked.
func listBedrock(ctx context.Context, e *endpoint.Endpoint) ([]provider.Listed, error) {
	// The lists stand at another address than the models.
	cfg := e.Config
	cfg.BaseURL = strings.Replace(cfg.BaseURL, "//bedrock-runtime.", "//bedrock.", 1)
	control, err := endpoint.New(cfg)
	if err != nil {
		return nil, err
	}
	defer control.Close()
	var out []provider.Listed
	for _, path := range []string{"/inference-profiles?maxResults=1000", "/foundation-models?byProvider=anthropic"} {
		raw, err := control.Fetch(ctx, path, control.KeyHeader())
		if err != nil {
			return nil, err
		}
		var list struct {
			Profiles []struct {
				ID string `json:"inferenceProfileId"`
			} `json:"inferenceProfileSummaries"`
			Models []struct {
				ID    string   `json:"modelId"`
				Types []string `json:"inferenceTypesSupported"`
			} `json:"modelSummaries"`
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
		for _, p := range list.Profiles {
			if strings.Contains(p.ID, "anthropic.") {
				out = append(out, provider.Listed{ID: p.ID})
			}
		}
		for _, m := range list.Models {
			if slices.Contains(m.Types, "ON_DEMAND") {
				out = append(out, provider.Listed{ID: m.ID})
			}
		}
	}
	return out, nil
}
