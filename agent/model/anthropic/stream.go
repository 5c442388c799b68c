package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"jcode/agent/model/endpoint"
)

// read puts the answer together from the events of a stream, or from one message where a
// gateway answers with that. A regular end is no error.
func (a *answer) read(resp *http.Response) error {
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && kind == "application/json" {
		return a.whole(resp.Body)
	}
	events := ssestream.NewDecoder(resp)
	for !a.stopped && events.Next() {
		if err := a.take(events.Event().Data); err != nil {
			return err
		}
	}
	if a.stopped || a.stopReason && events.Err() == nil {
		return nil
	}
	if err := events.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

// event is what is read of every event; the SDK decodes those that say more.
type event struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Delta struct {
		Type        string          `json:"type"`
		Text        string          `json:"text"`
		Thinking    string          `json:"thinking"`
		Signature   string          `json:"signature"`
		PartialJSON string          `json:"partial_json"`
		Citation    json.RawMessage `json:"citation"`
		StopReason  string          `json:"stop_reason"`
	} `json:"delta"`
}

// take works on one event. Events of unknown types are passed over.
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
	var whole sdk.MessageStreamEventUnion
	if err := json.Unmarshal(data, &whole); err != nil {
		a.x.Junk(data)
		return nil
	}
	switch ev.Type {
	case "message_start":
		a.begin(whole.Message.Model, usageOf(data, "message"))
	case "content_block_start":
		a.open(ev.Index, whole.ContentBlock.RawJSON())
	case "content_block_stop":
		a.close(ev.Index)
	case "message_delta":
		a.usage.update(usageOf(data))
		a.counted = true
		if ev.Delta.StopReason != "" {
			a.reason = ev.Delta.StopReason
			a.x.Finished(a.reason)
			a.stopReason = true
		}
	}
	return nil
}

// whole works on a message that came as one.
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
	a.reason, a.stopped, a.stopReason = m.StopReason, true, true
	a.x.Finished(m.StopReason)
	return nil
}
