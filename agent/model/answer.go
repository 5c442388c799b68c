package model

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// answer puts one answer together from the chunks of a stream, and reports what arrives.
type answer struct {
	say       *speaker
	text      strings.Builder
	reasoning strings.Builder
	calls     []*building
	think     thinkFilter
}

// building is a call whose arguments still arrive.
type building struct {
	id   string
	name string
	args strings.Builder
}

func newAnswer(say *speaker, thinkOpen bool) *answer {
	return &answer{say: say, think: thinkFilter{inside: thinkOpen, begun: thinkOpen}}
}

// take works on one chunk.
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
		a.say.say(ReasoningEvent{Delta: s})
	}
}

func (a *answer) said(s string) {
	if s != "" {
		a.text.WriteString(s)
		a.say.say(TextEvent{Delta: s})
	}
}

func (a *answer) call(d *openai.ToolCall) {
	if d.Index == nil || *d.Index < 0 || *d.Index > len(a.calls) {
		return // the transport counts from 0 without gaps
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
	a.say.say(CallEvent{Index: i, Name: c.name, Bytes: c.args.Len()})
}

// response gives the answer as far as it came. whole says that its end was seen.
func (a *answer) response(req *Request, x *exchange, whole bool) Response {
	thought, text := a.think.rest()
	a.thought(thought)
	a.said(text)
	r := Response{Text: a.text.String(), Reasoning: a.reasoning.String(), Finish: x.finish, Usage: x.usage}
	if len(x.model) > 0 {
		_ = json.Unmarshal(append(append([]byte{'"'}, x.model...), '"'), &r.Model) // the ID is for display; a broken one stays empty
	}
	if len(x.details) > 0 {
		r.Opaque = append(r.Opaque, Opaque{Kind: opaqueDetails, Raw: joinDetails(x.details)})
	}
	if x.message != "" && json.Valid([]byte(x.message)) {
		r.Opaque = append(r.Opaque, Opaque{Kind: opaqueMessage, Raw: x.message})
	}
	ids := newIDs(req)
	for i := range a.calls {
		c := a.calls[i]
		args := tidyArguments(c.args.String())
		name := c.name
		if name == "" {
			if args == "" { // it says nothing
				continue
			}
			name = safeName("")
		}
		if extra := x.extras[i]; extra != "" {
			r.Opaque = append(r.Opaque, Opaque{Kind: opaqueCall, Raw: extra, Text: len(r.Text), Calls: len(r.Calls)})
		}
		r.Calls = append(r.Calls, Call{
			ID: ids.take(c.id), Name: name, Arguments: args,
			Incomplete: !whole || x.finish == "length" && i == len(a.calls)-1 && !json.Valid([]byte(args)),
		})
	}
	if len(r.Calls) == 0 && r.Finish == "tool_calls" {
		r.Finish = "stop"
	}
	if !x.counted {
		r.Usage = a.estimate(x)
	}
	return r
}

// estimate counts tokens where the provider does not.
func (a *answer) estimate(x *exchange) Usage {
	out := a.text.Len() + a.reasoning.Len()
	for i := range a.calls {
		out += a.calls[i].args.Len() + len(a.calls[i].name)
	}
	return Usage{Input: tokens(len(x.body)), Output: tokens(out), Estimated: true}
}

// tidyArguments gives arguments as the model meant them where a server garbled them: sent
// twice, or behind an empty object that was meant as a beginning. Anything else stays as
// it came, byte for byte.
func tidyArguments(s string) string {
	if s == "" || json.Valid([]byte(s)) {
		return s
	}
	dec := json.NewDecoder(strings.NewReader(s))
	var values []json.RawMessage
	for len(values) < 8 {
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			break
		}
		if v[0] != '{' {
			return s
		}
		if len(values) == 0 || !bytes.Equal(v, values[len(values)-1]) {
			values = append(values, v)
		}
	}
	if dec.InputOffset() < int64(len(strings.TrimRight(s, " \t\r\n"))) {
		return s
	}
	if len(values) == 2 && isEmptyObject(values[0]) {
		values = values[1:]
	}
	if len(values) != 1 {
		return s
	}
	return string(values[0])
}

func isEmptyObject(v []byte) bool {
	return len(bytes.TrimSpace(v[1:len(v)-1])) == 0
}

// ids hands out call ids: the model's own where they can be used, else new ones. An id
// must be new in the whole conversation, and no longer than any server makes them.
type ids struct{ used map[string]bool }

func newIDs(req *Request) *ids {
	used := map[string]bool{}
	for i := range req.Messages {
		for k := range req.Messages[i].Calls {
			used[req.Messages[i].Calls[k].ID] = true
		}
	}
	return &ids{used}
}

func (s *ids) take(id string) string {
	for id == "" || len(id) > maxCallID || s.used[id] || strings.ContainsFunc(id, unfitForID) {
		var b [12]byte
		rand.Read(b[:]) // never fails
		id = "call_" + hex.EncodeToString(b[:])
	}
	s.used[id] = true
	return id
}

// maxCallID is the longest call id that is kept, in bytes.
const maxCallID = 128

func unfitForID(r rune) bool { return r <= ' ' || r >= 0x7f }
