package modeltest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Request is one recorded chat request.
type Request struct {
	// Index counts from 0 in order of arrival.
	Index int
	// Time is when the request's headers had arrived.
	Time   time.Time
	Path   string
	Header http.Header
	// Raw is the body as it arrived.
	Raw []byte
	// Fields is the whole body decoded.
	Fields map[string]any

	Model    string
	Stream   bool
	Messages []Message
	Tools    []Tool
}

// Message is one message of a recorded request.
type Message struct {
	Role string
	// Content is the text; text parts are joined.
	Content string
	// Images counts the image parts.
	Images int
	// Reasoning is reasoning_content, or reasoning.
	Reasoning  string
	Calls      []Call
	ToolCallID string
	// Fields is the whole message decoded.
	Fields map[string]any
}

// Tool is one offered tool in a recorded request.
type Tool struct {
	Name        string
	Description string
	Parameters  map[string]any
	// Fields is the whole `function` object decoded.
	Fields map[string]any
}

// Last returns the last message, or a zero one.
func (r Request) Last() Message {
	if len(r.Messages) == 0 {
		return Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

// Prompt is the last message of the user, not one that jcode adds.
func (r Request) Prompt() Message {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "user" && !strings.HasPrefix(m.Content, "[jcode] ") {
			return m
		}
	}
	return Message{}
}

// System returns the text of the first system or developer message.
func (r Request) System() string {
	for _, m := range r.Messages {
		if m.Role == "system" || m.Role == "developer" {
			return m.Content
		}
	}
	return ""
}

// Tool finds an offered tool by its name.
func (r Request) Tool(name string) (Tool, bool) {
	for _, t := range r.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// ToolNames lists the offered tools in order.
func (r Request) ToolNames() []string {
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = t.Name
	}
	return names
}

// Result returns the tool message that answers a call.
func (r Request) Result(callID string) (Message, bool) {
	for _, m := range r.Messages {
		if m.Role == "tool" && m.ToolCallID == callID {
			return m, true
		}
	}
	return Message{}, false
}

func decodeRequest(raw []byte, header http.Header, path string, at time.Time, in protocol) Request {
	r := Request{Time: at, Path: path, Header: header, Raw: raw}
	if json.Unmarshal(raw, &r.Fields) != nil {
		return r // Check names the fault
	}
	r.Model = text(r.Fields, "model")
	r.Stream, _ = r.Fields["stream"].(bool)
	switch in {
	case messagesProtocol:
		r.decodeMessages()
		return r
	case responsesProtocol:
		r.decodeResponses()
		return r
	case chatProtocol:
	}
	for _, m := range objects(r.Fields["messages"]) {
		r.Messages = append(r.Messages, decodeMessage(m))
	}
	for _, t := range objects(r.Fields["tools"]) {
		fn, _ := t["function"].(map[string]any)
		params, _ := fn["parameters"].(map[string]any)
		r.Tools = append(r.Tools, Tool{Name: text(fn, "name"), Description: text(fn, "description"), Parameters: params, Fields: fn})
	}
	return r
}

func decodeMessage(m map[string]any) Message {
	msg := Message{Role: text(m, "role"), ToolCallID: text(m, "tool_call_id"), Fields: m}
	msg.Reasoning = text(m, "reasoning_content")
	if msg.Reasoning == "" {
		msg.Reasoning = text(m, "reasoning")
	}
	switch c := m["content"].(type) {
	case string:
		msg.Content = c
	case []any:
		var texts []string
		for _, part := range objects(c) {
			if text(part, "type") == "image_url" {
				msg.Images++
				continue
			}
			texts = append(texts, text(part, "text"))
		}
		msg.Content = strings.Join(texts, "")
	}
	for _, c := range objects(m["tool_calls"]) {
		fn, _ := c["function"].(map[string]any)
		msg.Calls = append(msg.Calls, Call{ID: text(c, "id"), Name: text(fn, "name"), Args: text(fn, "arguments")})
	}
	return msg
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// objects returns the elements of a JSON array that are objects; others become empty ones,
// so that indices stay right.
func objects(v any) []map[string]any {
	list, _ := v.([]any)
	out := make([]map[string]any, len(list))
	for i, e := range list {
		out[i], _ = e.(map[string]any)
	}
	return out
}
