package chat

import (
	"encoding/json"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
)

// answer assembles one answer from the chunks of a stream, and reports what arrives.
type answer struct {
	say       *endpoint.Speaker
	text      strings.Builder
	reasoning strings.Builder
	calls     []*building
	think     thinkFilter
}

// building is a call whose arguments are still arriving.
type building struct {
	id   string
	name string
	args strings.Builder
}

func newAnswer(say *endpoint.Speaker, thinkOpen bool) *answer {
	return &answer{say: say, think: thinkFilter{inside: thinkOpen, begun: thinkOpen}}
}

// take processes one chunk.
func (a *answer) take(c *openai.ChatCompletionStreamResponse) {
	for i := range c.Choices {
		d := &c.Choices[i].Delta
		a.thought(d.ReasoningContent)
		if d.Content != "" {
			thought, text := a.think.split(d.Content)
			a.thought(thought)
			a.said(text)
		}
		for k := range d.ToolCalls {
			a.call(&d.ToolCalls[k])
		}
	}
}

func (a *answer) thought(s string) {
	if s != "" {
		a.reasoning.WriteString(s)
		a.say.Say(model.ReasoningEvent{Delta: s})
	}
}

func (a *answer) said(s string) {
	if s != "" {
		a.text.WriteString(s)
		a.say.Say(model.TextEvent{Delta: s})
	}
}

func (a *answer) call(d *openai.ToolCall) {
	if d.Index == nil || *d.Index < 0 || *d.Index > len(a.calls) {
		return // normalBody numbers calls from 0 without gaps
	}
	i := *d.Index
	if i == len(a.calls) {
		a.calls = append(a.calls, &building{})
	}
	c := a.calls[i]
	if c.id == "" {
		c.id = d.ID
	}
	c.name += d.Function.Name
	c.args.WriteString(d.Function.Arguments)
	a.say.Say(model.CallEvent{Index: i, Name: c.name, Bytes: c.args.Len()})
}

// response returns the answer as far as it arrived. whole says that its end was received.
func (a *answer) response(req *model.Request, x *exchange, whole bool) model.Response {
	thought, text := a.think.rest()
	a.thought(thought)
	a.said(text)
	r := model.Response{Text: a.text.String(), Reasoning: a.reasoning.String(), Finish: x.Finish, Usage: x.usage}
	r.Usage.Tier = x.tier
	if len(x.model) > 0 {
		_ = json.Unmarshal(append(append([]byte{'"'}, x.model...), '"'), &r.Model) // the ID is for display; a broken one stays empty
	}
	if len(x.details) > 0 {
		r.Opaque = append(r.Opaque, model.Opaque{Kind: opaqueDetails, Raw: joinDetails(x.details)})
	}
	if x.message != "" && json.Valid([]byte(x.message)) {
		r.Opaque = append(r.Opaque, model.Opaque{Kind: opaqueMessage, Raw: x.message})
	}
	ids := endpoint.NewIDs(req)
	for i := range a.calls {
		c := a.calls[i]
		args := endpoint.TidyArguments(c.args.String())
		if c.name == "" && args == "" { // empty
			continue
		}
		if extra := x.extras[i]; extra != "" {
			r.Opaque = append(r.Opaque, model.Opaque{Kind: opaqueCall, Raw: extra, Text: len(r.Text), Calls: len(r.Calls)})
		}
		cut := !whole || x.Finish == "length" && i == len(a.calls)-1 && !json.Valid([]byte(args))
		r.Calls = append(r.Calls, ids.Calls(req, model.Call{ID: c.id, Name: c.name, Arguments: args, Incomplete: cut})...)
	}
	if len(r.Calls) == 0 && r.Finish == "tool_calls" {
		r.Finish = "stop"
	}
	return r
}
