package modeltest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// decodeMessages decodes a Messages request into the form of Request: results are separate messages, as in
// chat completions.
func (r *Request) decodeMessages() {
	switch s := r.Fields["system"].(type) {
	case string:
		r.Messages = append(r.Messages, Message{Role: "system", Content: s})
	case []any:
		r.Messages = append(r.Messages, Message{Role: "system", Content: joinTexts(objects(s))})
	}
	for _, m := range objects(r.Fields["messages"]) {
		r.decodeTurn(m)
	}
	for _, t := range objects(r.Fields["tools"]) {
		r.Tools = append(r.Tools, messagesTool(t))
	}
}

func messagesTool(t map[string]any) Tool {
	params, _ := t["input_schema"].(map[string]any)
	return Tool{Name: text(t, "name"), Description: text(t, "description"), Parameters: params, Fields: t}
}

func (r *Request) decodeTurn(m map[string]any) {
	msg := Message{Role: text(m, "role"), Fields: m}
	if s, ok := m["content"].(string); ok {
		msg.Content = s
	}
	for _, b := range objects(m["content"]) {
		switch text(b, "type") {
		case "text":
			msg.Content += text(b, "text")
		case "thinking":
			msg.Reasoning += text(b, "thinking")
		case "image", "document":
			msg.Images++
		case "tool_use":
			args, _ := json.Marshal(b["input"])
			msg.Calls = append(msg.Calls, Call{ID: text(b, "id"), Name: text(b, "name"), Args: string(args)})
		case "tool_result":
			result := Message{Role: "tool", ToolCallID: text(b, "tool_use_id"), Content: text(b, "content"), Fields: b}
			if parts := objects(b["content"]); len(parts) > 0 {
				result.Content = joinTexts(parts)
				for _, p := range parts {
					if kind := text(p, "type"); kind == "image" || kind == "document" {
						result.Images++
					}
				}
			}
			r.Messages = append(r.Messages, result)
		case "tool_addition":
			tool, _ := b["tool"].(map[string]any)
			definition, _ := tool["definition"].(map[string]any)
			r.Tools = append(r.Tools, messagesTool(definition))
		}
	}
	if msg.Role != "user" || msg.Content != "" || msg.Images > 0 {
		r.Messages = append(r.Messages, msg)
	}
}

func joinTexts(parts []map[string]any) (s string) {
	for _, p := range parts {
		s += text(p, "text")
	}
	return s
}

// messagesEvents returns the reply as the events of a Messages stream.
func (p *player) messagesEvents() []string {
	r := p.reply
	usage := map[string]any{}
	switch {
	case r.usageIn == usageNowhere:
	case r.usage != nil:
		usage = map[string]any{
			"input_tokens": r.usage.Input - r.usage.Cached, "cache_read_input_tokens": r.usage.Cached, "cache_creation_input_tokens": 0, "output_tokens": 1,
		}
	default:
		usage = map[string]any{
			"input_tokens": p.cached.Fresh, "cache_read_input_tokens": p.cached.Read, "cache_creation_input_tokens": p.cached.Written,
			"cache_creation": map[string]any{"ephemeral_5m_input_tokens": p.cached.Written, "ephemeral_1h_input_tokens": 0}, "output_tokens": 1,
		}
	}
	out := []string{marshal(map[string]any{"type": "message_start", "message": map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": p.model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}}), `{"type":"ping"}`}
	n := 0
	block := func(start map[string]any, deltas ...map[string]any) {
		out = append(out, marshal(map[string]any{"type": "content_block_start", "index": n, "content_block": start}))
		for _, d := range deltas {
			out = append(out, marshal(map[string]any{"type": "content_block_delta", "index": n, "delta": d}))
		}
		out = append(out, marshal(map[string]any{"type": "content_block_stop", "index": n}))
		n++
	}
	if len(r.reasoning) > 0 {
		var deltas []map[string]any
		for _, s := range r.reasoning {
			deltas = append(deltas, map[string]any{"type": "thinking_delta", "thinking": s})
		}
		deltas = append(deltas, map[string]any{"type": "signature_delta", "signature": p.sign(join(r.reasoning))})
		block(map[string]any{"type": "thinking", "thinking": "", "signature": ""}, deltas...)
	}
	p.searchBlocks(block)
	if len(r.text) > 0 {
		var deltas []map[string]any
		for _, s := range r.text {
			deltas = append(deltas, map[string]any{"type": "text_delta", "text": s})
		}
		block(map[string]any{"type": "text", "text": ""}, deltas...)
	}
	for _, c := range r.calls {
		id := p.callID(c)
		var deltas []map[string]any
		for _, piece := range split(c.Args, r.argPiece) {
			deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": piece})
		}
		block(map[string]any{"type": "tool_use", "id": id, "name": c.Name, "input": map[string]any{}}, deltas...)
	}
	if !r.noFinish {
		output := 5
		if r.usage != nil {
			output = r.usage.Output
		}
		usage := map[string]any{"output_tokens": output}
		if n := len(r.searches); n > 0 {
			usage["server_tool_use"] = map[string]any{"web_search_requests": n}
		}
		out = append(out, marshal(map[string]any{
			"type": "message_delta", "delta": map[string]any{"stop_reason": p.messagesReason(), "stop_sequence": nil}, "usage": usage,
		}))
	}
	if !r.noDone {
		out = append(out, `{"type":"message_stop"}`)
	}
	return out
}

func (p *player) messagesReason() string {
	switch p.finishReason() {
	case "stop":
		return "end_turn"
	case "tool_calls":
		return "tool_use"
	case "length":
		return "max_tokens"
	case "content_filter":
		return "refusal"
	}
	return p.reply.finish
}

// sign returns the signature of a thinking block, bound to the conversation before it.
func (p *player) sign(thinking string) string {
	sum := sha256.Sum256([]byte(p.prefix + "\x00" + thinking))
	signature := hex.EncodeToString(sum[:])
	p.signed(signature, thinking)
	return signature
}

// messagesError returns an error body in the API's form.
func messagesError(kind, message string) string {
	return marshal(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}, "request_id": "req_1"})
}

// eventName returns the name of an event, which its payload also contains.
func eventName(payload string) string {
	var e struct {
		Type string `json:"type"`
	}
	if json.Unmarshal([]byte(payload), &e) != nil || e.Type == "" {
		return "message"
	}
	return e.Type
}

// prefixOf returns the fingerprint of what a thinking block at messages[n] is bound to.
func prefixOf(fields map[string]any, n int) string {
	list, _ := fields["messages"].([]any)
	b, err := json.Marshal([]any{unmarked(fields["system"]), unmarked(fields["tools"]), unmarked(list[:min(n, len(list))])})
	if err != nil {
		return fmt.Sprint(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// unmarked returns a value without its cache markers.
func unmarked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if k != "cache_control" {
				out[k] = unmarked(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = unmarked(v[i])
		}
		return out
	}
	return v
}

func hasBeta(header string, beta string) bool {
	for _, b := range strings.Split(header, ",") {
		if strings.TrimSpace(b) == beta {
			return true
		}
	}
	return false
}
