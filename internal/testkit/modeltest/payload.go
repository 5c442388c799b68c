package modeltest

import "strings"

// payloads returns the reply as chunks of an OpenAI stream.
func (p *player) payloads() []string {
	r := p.reply
	out := []string{chunk(map[string]any{"role": "assistant", "content": ""}, nil)}
	for _, s := range r.reasoning {
		out = append(out, DeltaChunk(`{"reasoning_content":`+marshal(s)+`}`))
	}
	for _, s := range r.text {
		out = append(out, TextChunk(s))
	}
	for i, c := range r.calls {
		out = append(out, p.callPayloads(i, c)...)
	}
	usage, has := p.usage()
	last := map[string]any{"index": 0, "delta": map[string]any{}}
	if !r.noFinish {
		last["finish_reason"] = p.finishReason()
	}
	if has && (r.usageIn == usageChoice || r.usageIn == usageBoth) {
		last["usage"] = usage
	}
	frame := envelope([]any{last})
	if has && r.usageIn == usageFinish {
		frame["usage"] = usage
	}
	out = append(out, marshal(frame))
	if has && (r.usageIn == usageLast || r.usageIn == usageBoth) {
		frame := envelope([]any{})
		frame["usage"] = usage
		out = append(out, marshal(frame))
	}
	return out
}

func (p *player) callPayloads(index int, c Call) []string {
	id := c.ID
	if id == "" {
		id = p.nextID()
	}
	pieces := split(c.Args, p.reply.argPiece)
	out := []string{chunk(map[string]any{"tool_calls": []any{map[string]any{
		"index": index, "id": id, "type": "function",
		"function": map[string]any{"name": c.Name, "arguments": pieces[0]},
	}}}, nil)}
	for _, piece := range pieces[1:] {
		out = append(out, chunk(map[string]any{"tool_calls": []any{map[string]any{
			"index": index, "function": map[string]any{"arguments": piece},
		}}}, nil))
	}
	return out
}

// completion returns the reply as one JSON answer.
func (p *player) completion() map[string]any {
	msg := map[string]any{"role": "assistant", "content": join(p.reply.text)}
	if len(p.reply.reasoning) > 0 {
		msg["reasoning_content"] = join(p.reply.reasoning)
	}
	var calls []any
	for _, c := range p.reply.calls {
		id := c.ID
		if id == "" {
			id = p.nextID()
		}
		calls = append(calls, map[string]any{"id": id, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Args}})
	}
	if calls != nil {
		msg["tool_calls"] = calls
	}
	choice := map[string]any{"index": 0, "message": msg}
	if !p.reply.noFinish {
		choice["finish_reason"] = p.finishReason()
	}
	frame := envelope([]any{choice})
	frame["object"] = "chat.completion"
	if usage, has := p.usage(); has {
		frame["usage"] = usage
	}
	return frame
}

func (p *player) usage() (map[string]any, bool) {
	if p.reply.usageIn == usageNowhere {
		return nil, false
	}
	u := Usage{Input: 10, Output: 5}
	if p.reply.usage != nil {
		u = *p.reply.usage
	}
	return map[string]any{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details": map[string]any{"cached_tokens": u.Cached},
	}, true
}

func (p *player) finishReason() string {
	switch {
	case p.reply.finish != "":
		return p.reply.finish
	case len(p.reply.calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// TextChunk returns the payload of a chunk with one piece of text.
func TextChunk(s string) string { return DeltaChunk(`{"content":` + marshal(s) + `}`) }

// DeltaChunk returns the payload of a chunk whose delta is the given JSON.
func DeltaChunk(delta string) string {
	return `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"test-model","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

// FinishChunk returns the payload of a chunk with a finish_reason and an empty delta.
func FinishChunk(reason string) string { return chunk(map[string]any{}, reason) }

func chunk(delta map[string]any, finish any) string {
	return marshal(envelope([]any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}))
}

func envelope(choices []any) map[string]any {
	return map[string]any{
		"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "test-model", "choices": choices,
	}
}

func join(pieces []string) string { return strings.Join(pieces, "") }
