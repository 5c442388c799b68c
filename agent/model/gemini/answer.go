package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
)

// Kinds of opaque parts.
const (
	opaqueText = "text" // a part of text or thinking with a signature, whole
	opaqueCall = "call" // the call at this place, whole
)

// answer assembles one answer from the pieces of a stream, and reports what arrives.
type answer struct {
	say *endpoint.Speaker
	x   *endpoint.Exchange

	model   string
	text    strings.Builder
	thought strings.Builder
	calls   []model.Call
	opaque  []model.Opaque
	usage   model.Usage
	counted bool
	reason  string // why it ended, in Google's words
	said    int    // bytes of all pieces
}

func newAnswer(say *endpoint.Speaker, x *endpoint.Exchange) *answer { return &answer{say: say, x: x} }

// part holds what is read of a part.
type part struct {
	Text         string `json:"text"`
	Thought      bool   `json:"thought"`
	Signature    string `json:"thoughtSignature"`
	FunctionCall *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

// piece is one object of a stream.
type piece struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Feedback *struct {
		Blocked string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *usageMetadata  `json:"usageMetadata"`
	Model string          `json:"modelVersion"`
	Error json.RawMessage `json:"error"`
}

// usageMetadata holds the counts, each of which is of the answer so far.
type usageMetadata struct {
	Prompt   int    `json:"promptTokenCount"`
	Tools    int    `json:"toolUsePromptTokenCount"`
	Cached   int    `json:"cachedContentTokenCount"`
	Answer   int    `json:"candidatesTokenCount"`
	Thoughts int    `json:"thoughtsTokenCount"`
	Total    int    `json:"totalTokenCount"`
	Tier     string `json:"serviceTier"`
}

func (u *usageMetadata) usage() model.Usage {
	out := model.Usage{Input: u.Prompt + u.Tools, Output: u.Answer + u.Thoughts, Cached: u.Cached}
	if out.Output == 0 && u.Total > out.Input {
		out.Output = u.Total - out.Input
	}
	if tier := strings.ToLower(u.Tier); tier != "standard" && tier != "default" {
		out.Tier = tier
	}
	return out
}

// take processes one object.
func (a *answer) take(data []byte) error {
	var p piece
	if err := json.Unmarshal(data, &p); err != nil {
		a.x.Junk(data)
		return nil
	}
	if len(p.Error) > 0 && string(p.Error) != "null" {
		return a.x.Faulted(data)
	}
	if a.said += len(data); a.said > endpoint.MaxAnswer {
		return endpoint.ErrTooLarge
	}
	if p.Candidates == nil && p.Feedback == nil && p.Usage == nil {
		a.x.Junk(data)
		return nil
	}
	a.x.Started = true
	if p.Model != "" {
		a.model = p.Model
	}
	if p.Usage != nil {
		a.usage, a.counted = p.Usage.usage(), true
	}
	if p.Feedback != nil && p.Feedback.Blocked != "" && len(p.Candidates) == 0 {
		a.end("SAFETY")
	}
	for _, c := range p.Candidates {
		if c.Index > 0 {
			continue // one is asked for
		}
		a.x.Silent.Heard(true)
		for _, raw := range c.Content.Parts {
			a.part(raw)
		}
		if c.Finish != "" {
			a.end(c.Finish)
		}
	}
	return nil
}

// part takes one part. What carries a signature is kept as it came.
func (a *answer) part(raw json.RawMessage) {
	var p part
	if json.Unmarshal(raw, &p) != nil {
		a.x.Junk(raw)
		return
	}
	kept := model.Opaque{Kind: opaqueText, Raw: string(slices.Clone(raw)), Text: a.text.Len(), Calls: len(a.calls)}
	switch {
	case p.FunctionCall != nil:
		args := strings.TrimSpace(string(p.FunctionCall.Args))
		if args == "" || args == "null" {
			args = "{}"
		}
		kept.Kind = opaqueCall
		a.opaque = append(a.opaque, kept)
		a.calls = append(a.calls, model.Call{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Arguments: args})
		a.say.Say(model.CallEvent{Index: len(a.calls) - 1, Name: p.FunctionCall.Name, Bytes: len(args)})
		return
	case p.Thought:
		a.thought.WriteString(p.Text)
		if p.Text != "" {
			a.say.Say(model.ReasoningEvent{Delta: p.Text})
		}
	default:
		a.text.WriteString(p.Text)
		if p.Text != "" {
			a.say.Say(model.TextEvent{Delta: p.Text})
		}
	}
	if p.Signature != "" {
		a.opaque = append(a.opaque, kept)
	}
}

// end takes the finish reason. A call that the server could not read is the model's slip: the same request may succeed.
func (a *answer) end(reason string) {
	a.reason = reason
	switch reason {
	case "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "TOO_MANY_TOOL_CALLS", "OTHER":
		reason = "malformed_function_call"
		if a.reason == "OTHER" {
			reason = "error"
		}
	case "IMAGE_SAFETY", "LANGUAGE", "PROHIBITED_CONTENT", "MODEL_ARMOR":
		reason = "safety"
	}
	a.x.Finished(reason)
}

// response returns the answer.
func (a *answer) response(req *model.Request) model.Response {
	resp := model.Response{
		Text: a.text.String(), Reasoning: a.thought.String(), Opaque: a.opaque,
		Finish: a.x.Finish, Usage: a.usage, Model: a.model,
	}
	ids := endpoint.NewIDs(req)
	for _, c := range a.calls {
		resp.Calls = append(resp.Calls, ids.Calls(req, c)...)
	}
	if len(resp.Calls) != len(a.calls) { // one was a wrapper of several: its part stands for none of them
		resp.Opaque = slices.DeleteFunc(slices.Clone(resp.Opaque), func(o model.Opaque) bool { return o.Kind == opaqueCall || o.Calls > 0 })
	}
	if len(resp.Calls) > 0 && resp.Finish == "stop" {
		resp.Finish = "tool_calls"
	}
	return resp
}
