package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"jcode/agent/model/endpoint"
)

// read assembles the answer from the events of a stream, or from a single message if a gateway answers with
// one. A regular end is not an error.
func (a *answer) read(resp *http.Response) error {
	if endpoint.IsJSON(resp) {
		return a.whole(resp.Body)
	}
	for events := newEvents(resp.Body); !a.stopped; {
		data, err := events.next()
		switch {
		case errors.Is(err, io.EOF) && a.reason != "":
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		if err := a.take(data); err != nil {
			return err
		}
	}
	return nil
}

// event holds the fields that are read of an event. All events are decoded into one value, since an answer
// has thousands of deltas.
type event struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	raw     string          // of a delta whose kind is not known here
	Message json.RawMessage `json:"message"`       // of message_start; in other events a text
	Block   json.RawMessage `json:"content_block"` // of content_block_start
	Delta   struct {
		Type        string          `json:"type"`
		Text        string          `json:"text"`
		Thinking    string          `json:"thinking"`
		Signature   string          `json:"signature"`
		PartialJSON string          `json:"partial_json"`
		Citation    json.RawMessage `json:"citation"`
		StopReason  string          `json:"stop_reason"`
	} `json:"delta"`
}

func knownDelta(kind string) bool {
	switch kind {
	case "text_delta", "thinking_delta", "signature_delta", "input_json_delta", "citations_delta":
		return true
	}
	return false
}

// take processes one event. Events of unknown types are skipped.
func (a *answer) take(data []byte) error {
	ev := &a.event
	*ev = event{}
	if err := json.Unmarshal(data, ev); err != nil {
		a.x.Junk(data)
		return nil
	}
	if a.said > endpoint.MaxAnswer {
		return endpoint.ErrTooLarge
	}
	switch ev.Type {
	case "ping":
		return nil
	case "error":
		return a.x.Faulted(data)
	case "content_block_delta":
		a.x.Silent.Heard(true)
		if !knownDelta(ev.Delta.Type) {
			ev.raw = string(data)
		}
		a.delta(ev)
		return nil
	case "message_stop":
		a.stopped = true
		return nil
	case "message_start", "message_delta", "content_block_start", "content_block_stop":
		a.x.Silent.Heard(true)
	default:
		a.x.Junk(data)
		return nil
	}
	switch ev.Type {
	case "message_start":
		var message struct {
			Model string `json:"model"`
		}
		_ = json.Unmarshal(ev.Message, &message) // a message of another form is treated as started
		a.begin(message.Model, usageOf(ev.Message))
	case "content_block_start":
		a.open(ev.Index, string(ev.Block))
	case "content_block_stop":
		a.close(ev.Index)
	case "message_delta":
		a.usage.update(usageOf(data))
		a.counted = true
		if ev.Delta.StopReason != "" {
			a.reason = ev.Delta.StopReason
			a.x.Finished(a.reason)
		}
	}
	return nil
}

// whole processes an answer that arrived as a single message.
func (a *answer) whole(body io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(body, endpoint.MaxAnswer+1))
	if err != nil {
		return err
	}
	if len(raw) > endpoint.MaxAnswer {
		return endpoint.ErrTooLarge
	}
	var m struct {
		Type       string            `json:"type"`
		Model      string            `json:"model"`
		Content    []json.RawMessage `json:"content"`
		StopReason string            `json:"stop_reason"`
	}
	if err := json.Unmarshal(raw, &m); err != nil || m.Type != "message" {
		if m.Type == "error" {
			return a.x.Faulted(raw)
		}
		a.x.Junk(raw)
		return errors.New("no message")
	}
	a.begin(m.Model, usageOf(raw))
	for i, b := range m.Content {
		a.open(i, string(b))
		a.close(i)
	}
	a.reason, a.stopped = m.StopReason, true
	a.x.Finished(m.StopReason)
	return nil
}
