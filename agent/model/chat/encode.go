package chat

import (
	"encoding/base64"
	"hash/fnv"
	"math/big"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
)

// encoder writes a request as JSON, once per step. What is the same in every step comes first (model,
// settings, tools, system prompt, the older messages), so that two requests of a session share their
// beginning and a provider's prompt cache stays valid.
type encoder struct {
	endpoint.Body
	f   *features
	req *model.Request
	// provider is the name under which opaque parts were kept.
	provider string
}

func (e *encoder) encode() []byte {
	e.settings()
	e.Extras()
	e.tools()
	e.messages()
	e.Raw("}")
	return e.B
}

func (e *encoder) settings() {
	r, f := e.req, e.f
	if f.streamOptions && e.Own("stream_options") {
		e.Raw(`{"include_usage":true}`)
	}
	e.Sampling(r, &f.Form)
	effort := endpoint.NearestEffort(f.Efforts, r.ReasoningEffort)
	if f.forcedEffort != "" && len(r.Tools) > 0 {
		effort = f.forcedEffort
	}
	if f.effort && effort != "" && e.Own("reasoning_effort") {
		e.Str(effort)
	}
	if r.MaxOutputTokens > 0 && e.Own(f.maxTokensField) {
		e.Int(r.MaxOutputTokens)
	}
	if f.Answers && len(r.Answer) > 0 && e.Own("response_format") {
		e.Raw(`{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":`)
		e.Raw(string(r.Answer))
		e.Raw(`}}`)
	}
}

func (e *encoder) tools() {
	if len(e.req.Tools) == 0 || !e.Own("tools") {
		return
	}
	e.Raw("[")
	for i := range e.req.Tools {
		t := &e.req.Tools[i]
		e.Element()
		e.Raw(`{"type":"function","function":{"name":`)
		e.Str(t.Name)
		if t.Description != "" {
			e.Raw(`,"description":`)
			e.Str(t.Description)
		}
		e.Raw(`,"parameters":`)
		e.Schema(t, &e.f.Form)
		if e.f.strict {
			e.Raw(`,"strict":true`)
		}
		e.Raw("}")
		if i == len(e.req.Tools)-1 {
			e.marker(e.f.markers)
		}
		e.Raw("}")
	}
	e.Raw("]")
}

// marker asks the provider to cache the prompt up to here.
func (e *encoder) marker(set bool) {
	if set {
		e.Raw(`,"cache_control":{"type":"ephemeral"}`)
	}
}

func (e *encoder) messages() {
	if !e.Own("messages") {
		return
	}
	e.Raw("[")
	list := e.req.Messages
	switch {
	case e.req.System == "":
	case e.f.systemRole == "": // it goes into the first user message
		list = append([]model.Message{{Role: model.RoleUser, Text: e.req.System}}, list...)
	default:
		e.begin(e.f.systemRole)
		e.content(e.req.System, nil, e.f.markers)
		e.Raw("}")
	}
	if e.f.alternate || e.f.systemRole == "" {
		list = alternating(list)
	}
	marked := len(list) - 2 // the last two carry cache markers
	var owed []model.Image  // images of tool results, which only a user message may hold
	for i := range list {
		m := &list[i]
		if m.Role != model.RoleTool {
			owed = e.settle(owed)
		} else if len(m.Images) > 0 {
			said := *m
			said.Text, said.Images = model.Given(m.Text, m.Images, picturesAlone)
			owed = append(owed, said.Images...)
			m = &said
		}
		e.message(m, e.f.markers && i >= marked)
	}
	e.settle(owed)
	e.Raw("]")
}

// imagesOfResults introduces images that tools returned.
const imagesOfResults = "The images of the tool results above:"

// picturesAlone accepts what the protocol accepts: documents are sent as their text.
func picturesAlone(mime string) bool { return mime != model.MIMEPDF }

// settle shows the images of the preceding tool results.
func (e *encoder) settle(owed []model.Image) []model.Image {
	if len(owed) > 0 {
		e.begin(string(model.RoleUser))
		e.content(imagesOfResults, owed, false)
		e.Raw("}")
	}
	return nil
}

func (e *encoder) begin(role string) {
	e.Element()
	e.Raw(`{"role":`)
	e.Str(role)
}

func (e *encoder) message(m *model.Message, mark bool) {
	switch {
	case m.Role == model.RoleAssistant && m.Text == "" && len(m.Calls) == 0:
		return // an empty message is never sent
	case m.Role == model.RoleTool:
		e.begin("tool")
		e.Raw(`,"tool_call_id":`)
		e.Str(e.callID(m.CallID))
		if e.f.toolNames && m.Name != "" {
			e.Raw(`,"name":`)
			e.Str(model.SafeName(m.Name))
		}
		body := m.Text
		if body == "" {
			body = "(no output)"
		}
		e.content(body, nil, mark)
	case m.Role == model.RoleAssistant:
		e.begin("assistant")
		e.assistant(m, mark)
	default:
		e.begin(string(m.Role))
		e.content(m.Text, m.Images, mark)
	}
	e.Raw("}")
}

func (e *encoder) assistant(m *model.Message, mark bool) {
	if m.Text == "" || e.f.bareCalls && len(m.Calls) > 0 {
		e.Raw(`,"content":null`)
	} else {
		e.content(m.Text, nil, mark)
	}
	if thought := m.Reasoning; e.f.reasoning && (thought != "" || e.f.blankReasoning && len(m.Calls) > 0) {
		if thought == "" {
			thought = " " // another model's call: the endpoint requires reasoning with each call, and accepts a space
		}
		e.Raw(`,"reasoning_content":`)
		e.Str(thought)
	}
	back := backTo(m, e.provider, e.req.Model)
	e.wholeMessage(back)
	if len(m.Calls) == 0 {
		return
	}
	e.Raw(`,"tool_calls":[`)
	for i := range m.Calls {
		c := &m.Calls[i]
		e.Element()
		e.Raw(`{"id":`)
		e.Str(e.callID(c.ID))
		e.Raw(`,"type":"function","function":{"name":`)
		e.Str(model.SafeName(c.Name))
		e.Raw(`,"arguments":`)
		if strings.TrimSpace(c.Arguments) == "" {
			e.Raw(`"{}"`)
		} else {
			e.Str(c.Arguments)
		}
		e.Raw("}")
		if kept := withCall(back, i); kept != "" {
			e.Raw(`,"extra_content":`)
			e.Raw(kept)
		} else if e.f.signatures && i == 0 {
			// The value that Google documents for calls of unknown origin.
			e.Raw(`,"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`)
		}
		e.Raw("}")
	}
	e.Raw("]")
}

// wholeMessage writes the opaque parts that belong to a message as a whole.
func (e *encoder) wholeMessage(back []model.Opaque) {
	for _, o := range back {
		switch o.Kind {
		case opaqueDetails, opaqueMessage:
			e.Raw(`,"` + o.Kind + `":`)
			e.Raw(o.Raw)
		}
	}
}

// withCall returns the opaque part of the call at an index, or "".
func withCall(back []model.Opaque, call int) string {
	for _, o := range back {
		if o.Kind == opaqueCall && o.Calls == call {
			return o.Raw
		}
	}
	return ""
}

// content writes text, and images if there are any.
func (e *encoder) content(s string, images []model.Image, mark bool) {
	e.Raw(`,"content":`)
	s, images = model.Given(s, images, func(mime string) bool { return e.f.Images && picturesAlone(mime) })
	if len(images) == 0 && !mark {
		e.Str(s)
		return
	}
	e.Raw("[")
	if strings.TrimSpace(s) != "" {
		e.Raw(`{"type":"text","text":`)
		e.Str(s)
		e.marker(mark)
		e.Raw("}")
	}
	for _, img := range images {
		e.Element()
		e.Raw(`{"type":"image_url","image_url":{"url":"data:`)
		e.B = endpoint.AppendEscaped(e.B, img.MIME)
		e.Raw(";base64,")
		e.B = base64.StdEncoding.AppendEncode(e.B, img.Data)
		e.Raw(`"}}`)
	}
	e.Raw("]")
}

// callID returns an id in the form that the endpoint wants; a call and its result get the same.
func (e *encoder) callID(id string) string {
	if e.f.cappedIDs {
		id = endpoint.ShortID(id, cappedID)
	}
	if !e.f.shortIDs || len(id) == 9 && !strings.ContainsFunc(id, func(r rune) bool { return !model.IsAlnum(r) }) {
		return id
	}
	h := fnv.New64a()
	h.Write([]byte(id)) // a hash takes everything
	s := new(big.Int).SetUint64(h.Sum64()).Text(62)
	return (s + "000000000")[:9]
}

// cappedID is the longest call id of providers that limit it, in characters.
const cappedID = 40
