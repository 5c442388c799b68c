package anthropic

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
)

// answer assembles one answer from the events of a stream, and reports what arrives.
type answer struct {
	say   *endpoint.Speaker
	x     *endpoint.Exchange
	event event

	model   string
	blocks  []*building // in the order of their indices
	usage   usage
	counted bool
	reason  string // why it stopped, in the provider's words
	stopped bool
	said    int // bytes of all deltas
	calls   int
}

// building is a block that is still arriving.
type building struct {
	index     int
	kind      string
	start     string // JSON of its start event
	text      strings.Builder
	signature string
	input     strings.Builder
	citations []string
	more      []string // what unknown deltas added, as members of objects
	name      string
	id        string
	call      int // its place among the calls
	closed    bool
}

func newAnswer(say *endpoint.Speaker, x *endpoint.Exchange) *answer { return &answer{say: say, x: x} }

// begin starts the answer; a second call starts it over.
func (a *answer) begin(id string, u usage) {
	if a.x.Started {
		a.say.Void("the answer starts over")
		a.blocks, a.calls, a.usage, a.reason = nil, 0, usage{}, ""
	}
	a.x.Started, a.counted, a.model = true, true, id
	a.usage.update(u)
}

// place returns the position of the block with an index, or the one for a new block.
func (a *answer) place(index int) (at int, found bool) {
	return slices.BinarySearchFunc(a.blocks, index, func(b *building, i int) int { return cmp.Compare(b.index, i) })
}

// find returns the block with an index, or nil.
func (a *answer) find(index int) *building {
	if at, ok := a.place(index); ok {
		return a.blocks[at]
	}
	return nil
}

// open begins a block from its start event.
func (a *answer) open(index int, raw string) {
	a.x.Started = true
	at, open := a.place(index)
	if open {
		return
	}
	var start struct {
		Type      string            `json:"type"`
		Text      string            `json:"text"`
		Thinking  string            `json:"thinking"`
		Signature string            `json:"signature"`
		ID        string            `json:"id"`
		Name      string            `json:"name"`
		Input     json.RawMessage   `json:"input"`
		Citations []json.RawMessage `json:"citations"`
	}
	_ = json.Unmarshal([]byte(raw), &start) // a block of an unknown form is kept unchanged
	b := &building{index: index, kind: start.Type, start: raw, signature: start.Signature, name: start.Name, id: start.ID}
	a.blocks = slices.Insert(a.blocks, at, b)
	for _, c := range start.Citations {
		b.citations = append(b.citations, string(c))
	}
	switch b.kind {
	case "text":
		a.text(b, start.Text)
	case "thinking":
		a.thought(b, start.Thinking)
	case "tool_use":
		b.call = a.calls
		a.calls++
		if s := string(start.Input); s != "" && s != "{}" && s != "null" {
			b.input.WriteString(s)
		}
		a.say.Say(model.CallEvent{Index: b.call, Name: b.name, Bytes: b.input.Len()})
	}
}

func (a *answer) text(b *building, s string) {
	if s != "" {
		a.said += len(s)
		b.text.WriteString(s)
		a.say.Say(model.TextEvent{Delta: s})
	}
}

func (a *answer) thought(b *building, s string) {
	if s != "" {
		a.said += len(s)
		b.text.WriteString(s)
		a.say.Say(model.ReasoningEvent{Delta: s})
	}
}

func (a *answer) delta(ev *event) {
	b := a.find(ev.Index)
	if b == nil { // its start was lost: the delta shows what it is
		kind := map[string]string{"text_delta": "text", "thinking_delta": "thinking"}[ev.Delta.Type]
		if kind == "" {
			return
		}
		a.open(ev.Index, `{"type":"`+kind+`"}`)
		b = a.find(ev.Index)
	}
	switch d := &ev.Delta; d.Type {
	case "text_delta":
		a.text(b, d.Text)
	case "thinking_delta":
		a.thought(b, d.Thinking)
	case "signature_delta":
		b.signature = d.Signature
	case "input_json_delta":
		a.said += len(d.PartialJSON)
		b.input.WriteString(d.PartialJSON)
		if b.kind == "tool_use" {
			a.say.Say(model.CallEvent{Index: b.call, Name: b.name, Bytes: b.input.Len()})
		}
	case "citations_delta":
		b.citations = append(b.citations, string(d.Citation))
	default:
		a.said += len(ev.raw)
		b.more = append(b.more, ev.raw)
	}
}

// close ends a block. A block of a tool that ran on the server is shown.
func (a *answer) close(index int) {
	b := a.find(index)
	if b == nil || b.closed {
		return
	}
	b.closed = true
	if line := ranThere(b); line != "" {
		a.say.Say(model.NoticeEvent{Text: line})
	}
}

func (b *building) inputJSON() string {
	s := strings.TrimSpace(b.input.String())
	if s == "" {
		return "{}"
	}
	return s
}

// response returns the answer as far as it arrived. whole says that its end was received.
func (a *answer) response(req *model.Request, whole bool) model.Response {
	r := model.Response{Finish: a.x.Finish, Model: a.model, Usage: a.usage.last(), Wasted: a.usage.before()}
	if a.reason == "pause_turn" {
		r.Finish = model.FinishPause
	}
	ids := endpoint.NewIDs(req)
	last := ""
	for i, b := range a.blocks {
		at := model.Opaque{Kind: b.kind, Text: len(r.Text), Calls: len(r.Calls)}
		switch b.kind {
		case "text":
			if b.text.Len() == 0 {
				continue
			}
			if len(b.citations) > 0 || last == "text" || last == "tool_use" {
				at.Kind = opaqueText
				if len(b.citations) > 0 {
					at.Raw = "[" + strings.Join(b.citations, ",") + "]"
				}
				r.Opaque = append(r.Opaque, at)
			}
			r.Text += b.text.String()
		case "thinking":
			r.Reasoning += b.text.String()
			if at.Raw = b.thinking(); at.Raw != "" {
				r.Opaque = append(r.Opaque, at)
			}
		case "tool_use":
			if b.name == "" && b.inputJSON() == "{}" {
				continue // empty
			}
			if caller := callerOf(b.start); caller != "" {
				at.Kind, at.Raw = opaqueCall, caller
				r.Opaque = append(r.Opaque, at)
			}
			args := endpoint.TidyArguments(b.inputJSON())
			// A call that the limit cut before its first argument looks like one without arguments.
			cut := !whole || a.reason == "max_tokens" && i == len(a.blocks)-1 && (b.input.Len() == 0 || !json.Valid([]byte(args)))
			r.Calls = append(r.Calls, ids.Calls(req, model.Call{ID: b.id, Name: b.name, Arguments: args, Incomplete: cut})...)
		default:
			if at.Raw = b.whole(); at.Raw != "" {
				r.Opaque = append(r.Opaque, at)
			}
		}
		last = b.kind
	}
	if r.Finish == "tool_calls" && len(r.Calls) == 0 {
		r.Finish = "stop"
	}
	return r
}

// thinking returns a thinking block as it is sent back; "" without a signature, since no server accepts that.
func (b *building) thinking() string {
	if b.signature == "" {
		return ""
	}
	out := endpoint.AppendString([]byte(`{"type":"thinking","thinking":`), b.text.String())
	out = append(out, `,"signature":`...)
	return string(append(endpoint.AppendString(out, b.signature), '}'))
}

// whole returns any other block byte for byte, with the input that streamed after its start, and what deltas of
// a kind that is not known here added to it.
func (b *building) whole() string {
	if !json.Valid([]byte(b.start)) {
		return ""
	}
	out := b.start
	if b.input.Len() > 0 {
		if !json.Valid([]byte(b.inputJSON())) {
			return ""
		}
		out = endpoint.WithMember(out, "input", b.inputJSON())
	}
	for _, raw := range b.more {
		out = withDelta(out, raw)
	}
	return out
}

// withDelta adds the members of an event's delta to a block: text to the text that is there, anything else in
// place of what is there.
func withDelta(block, event string) string {
	var had, ev map[string]json.RawMessage
	var delta map[string]json.RawMessage
	if json.Unmarshal([]byte(event), &ev) != nil || json.Unmarshal(ev["delta"], &delta) != nil || json.Unmarshal([]byte(block), &had) != nil {
		return block
	}
	for _, name := range slices.Sorted(maps.Keys(delta)) {
		value := string(delta[name])
		var before, more string
		switch {
		case name == "type", value == "null":
			continue
		case json.Unmarshal(had[name], &before) == nil && json.Unmarshal(delta[name], &more) == nil:
			value = string(endpoint.AppendString(nil, before+more))
		}
		block = endpoint.WithMember(block, name, value)
	}
	return block
}

// callerOf returns who made a call, if it was not the model itself.
func callerOf(start string) string {
	var b struct {
		Caller json.RawMessage `json:"caller"`
	}
	var c struct {
		Type string `json:"type"`
	}
	if json.Unmarshal([]byte(start), &b) != nil || len(b.Caller) == 0 || json.Unmarshal(b.Caller, &c) != nil || c.Type == "" || c.Type == "direct" {
		return ""
	}
	return string(b.Caller)
}
