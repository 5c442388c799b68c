package chat

import (
	"encoding/base64"
	"hash/fnv"
	"math/big"
	"strconv"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
	"jcode/internal/schema"
)

// encoder writes a request as JSON, once per step. What is the same in every step comes first (model,
// settings, tools, system prompt, the older messages), so that two requests of a session share their
// beginning and a provider's prompt cache stays valid.
type encoder struct {
	b   []byte
	f   *features
	req *model.Request
	// extra are the provider's own fields; they take precedence over ours.
	extra []endpoint.Field
	// provider is the name under which opaque parts were kept.
	provider string
}

// encodeRequest returns the body of a streaming chat request.
func encodeRequest(req *model.Request, f *features, extra []endpoint.Field, provider string) []byte {
	e := encoder{b: make([]byte, 0, sizeOf(req)), f: f, req: req, extra: extra, provider: provider}
	e.b = append(e.b, '{')
	e.settings()
	for _, x := range extra {
		e.field(x.Name)
		e.b = append(e.b, x.Raw...)
	}
	e.tools()
	e.messages()
	e.b = append(e.b, '}')
	return e.b
}

// sizeOf estimates the length of a request's body.
func sizeOf(req *model.Request) int {
	n := 1024 + len(req.System) + len(req.System)/8
	for i := range req.Tools {
		t := &req.Tools[i]
		n += 128 + len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	for i := range req.Messages {
		m := &req.Messages[i]
		n += 128 + len(m.Text) + len(m.Text)/8 + len(m.Reasoning)
		for k := range m.Calls {
			n += 128 + len(m.Calls[k].Arguments)*5/4
		}
		for k := range m.Images {
			n += 128 + len(m.Images[k].Data)*4/3
		}
	}
	return n
}

// field starts a field of the body.
func (e *encoder) field(name string) {
	if e.b[len(e.b)-1] != '{' {
		e.b = append(e.b, ',')
	}
	e.b = endpoint.AppendString(e.b, name)
	e.b = append(e.b, ':')
}

// own starts a field of the body unless the provider's own fields set it.
func (e *encoder) own(name string) bool {
	for _, x := range e.extra {
		if x.Name == name {
			return false
		}
	}
	e.field(name)
	return true
}

func (e *encoder) settings() {
	r, f := e.req, e.f
	if e.own("model") {
		e.b = endpoint.AppendString(e.b, r.Model)
	}
	if e.own("stream") {
		e.b = append(e.b, "true"...)
	}
	if f.streamOptions && e.own("stream_options") {
		e.b = append(e.b, `{"include_usage":true}`...)
	}
	if f.Temperature && r.Temperature != nil && e.own("temperature") {
		e.b = strconv.AppendFloat(e.b, *r.Temperature, 'g', -1, 64)
	}
	if f.TopP && r.TopP != nil && e.own("top_p") {
		e.b = strconv.AppendFloat(e.b, *r.TopP, 'g', -1, 64)
	}
	effort := endpoint.NearestEffort(f.Efforts, r.ReasoningEffort)
	if f.forcedEffort != "" && len(r.Tools) > 0 {
		effort = f.forcedEffort
	}
	if f.effort && effort != "" && e.own("reasoning_effort") {
		e.b = endpoint.AppendString(e.b, effort)
	}
	if r.MaxOutputTokens > 0 && e.own(f.maxTokensField) {
		e.b = strconv.AppendInt(e.b, int64(r.MaxOutputTokens), 10)
	}
}

func (e *encoder) tools() {
	if len(e.req.Tools) == 0 || !e.own("tools") {
		return
	}
	for i := range e.req.Tools {
		t := &e.req.Tools[i]
		e.b = append(e.b, sep(i, '[')...)
		e.b = append(e.b, `{"type":"function","function":{"name":`...)
		e.b = endpoint.AppendString(e.b, t.Name)
		if t.Description != "" {
			e.b = append(e.b, `,"description":`...)
			e.b = endpoint.AppendString(e.b, t.Description)
		}
		e.b = append(e.b, `,"parameters":`...)
		if len(t.Parameters) == 0 {
			e.b = append(e.b, `{"type":"object","properties":{}}`...)
		}
		if e.f.Simple && !schema.IsSimple(t.Parameters) {
			e.b = append(e.b, schema.Simple(t.Parameters)...)
		} else {
			e.b = append(e.b, t.Parameters...)
		}
		if e.f.strict {
			e.b = append(e.b, `,"strict":true`...)
		}
		e.b = append(e.b, '}')
		if i == len(e.req.Tools)-1 {
			e.marker(e.f.markers)
		}
		e.b = append(e.b, '}')
	}
	e.b = append(e.b, ']')
}

func sep(i int, open byte) []byte {
	if i == 0 {
		return []byte{open}
	}
	return []byte{','}
}

// marker asks the provider to cache the prompt up to here.
func (e *encoder) marker(set bool) {
	if set {
		e.b = append(e.b, `,"cache_control":{"type":"ephemeral"}`...)
	}
}

func (e *encoder) messages() {
	if !e.own("messages") {
		return
	}
	e.b = append(e.b, '[')
	list := e.req.Messages
	switch {
	case e.req.System == "":
	case e.f.systemRole == "": // it goes into the first user message
		list = append([]model.Message{{Role: model.RoleUser, Text: e.req.System}}, list...)
	default:
		e.begin(e.f.systemRole)
		e.content(e.req.System, nil, e.f.markers)
		e.b = append(e.b, '}')
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
	e.b = append(e.b, ']')
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
		e.b = append(e.b, '}')
	}
	return nil
}

func (e *encoder) begin(role string) {
	if e.b[len(e.b)-1] != '[' {
		e.b = append(e.b, ',')
	}
	e.b = append(e.b, `{"role":`...)
	e.b = endpoint.AppendString(e.b, role)
}

func (e *encoder) message(m *model.Message, mark bool) {
	switch {
	case m.Role == model.RoleAssistant && m.Text == "" && len(m.Calls) == 0:
		return // an empty message is never sent
	case m.Role == model.RoleTool:
		e.begin("tool")
		e.b = append(e.b, `,"tool_call_id":`...)
		e.b = endpoint.AppendString(e.b, e.callID(m.CallID))
		if e.f.toolNames && m.Name != "" {
			e.b = append(e.b, `,"name":`...)
			e.b = endpoint.AppendString(e.b, endpoint.SafeName(m.Name))
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
	e.b = append(e.b, '}')
}

func (e *encoder) assistant(m *model.Message, mark bool) {
	if m.Text == "" || e.f.bareCalls && len(m.Calls) > 0 {
		e.b = append(e.b, `,"content":null`...)
	} else {
		e.content(m.Text, nil, mark)
	}
	if thought := m.Reasoning; e.f.reasoning && (thought != "" || e.f.blankReasoning && len(m.Calls) > 0) {
		if thought == "" {
			thought = " " // another model's call: the endpoint requires reasoning with each call, and accepts a space
		}
		e.b = append(e.b, `,"reasoning_content":`...)
		e.b = endpoint.AppendString(e.b, thought)
	}
	back := backTo(m, e.provider, e.req.Model)
	e.wholeMessage(back)
	if len(m.Calls) == 0 {
		return
	}
	e.b = append(e.b, `,"tool_calls":`...)
	for i := range m.Calls {
		c := &m.Calls[i]
		e.b = append(e.b, sep(i, '[')...)
		e.b = append(e.b, `{"id":`...)
		e.b = endpoint.AppendString(e.b, e.callID(c.ID))
		e.b = append(e.b, `,"type":"function","function":{"name":`...)
		e.b = endpoint.AppendString(e.b, endpoint.SafeName(c.Name))
		e.b = append(e.b, `,"arguments":`...)
		if strings.TrimSpace(c.Arguments) == "" {
			e.b = append(e.b, `"{}"`...)
		} else {
			e.b = endpoint.AppendString(e.b, c.Arguments)
		}
		e.b = append(e.b, '}')
		if kept := withCall(back, i); kept != "" {
			e.b = append(append(e.b, `,"extra_content":`...), kept...)
		} else if e.f.signatures && i == 0 {
			// The value that Google documents for calls of unknown origin.
			e.b = append(e.b, `,"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`...)
		}
		e.b = append(e.b, '}')
	}
	e.b = append(e.b, ']')
}

// wholeMessage writes the opaque parts that belong to a message as a whole.
func (e *encoder) wholeMessage(back []model.Opaque) {
	for _, o := range back {
		switch o.Kind {
		case opaqueDetails, opaqueMessage:
			e.b = append(e.b, `,"`+o.Kind+`":`...)
			e.b = append(e.b, o.Raw...)
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
	e.b = append(e.b, `,"content":`...)
	s, images = model.Given(s, images, func(mime string) bool { return e.f.Images && picturesAlone(mime) })
	if len(images) == 0 && !mark {
		e.b = endpoint.AppendString(e.b, s)
		return
	}
	e.b = append(e.b, '[')
	if strings.TrimSpace(s) != "" {
		e.b = append(e.b, `{"type":"text","text":`...)
		e.b = endpoint.AppendString(e.b, s)
		e.marker(mark)
		e.b = append(e.b, '}')
	}
	for _, img := range images {
		if e.b[len(e.b)-1] != '[' {
			e.b = append(e.b, ',')
		}
		e.b = append(e.b, `{"type":"image_url","image_url":{"url":"data:`...)
		e.b = endpoint.AppendEscaped(e.b, img.MIME)
		e.b = append(e.b, ";base64,"...)
		e.b = base64.StdEncoding.AppendEncode(e.b, img.Data)
		e.b = append(e.b, `"}}`...)
	}
	e.b = append(e.b, ']')
}

// callID returns an id in the form that the endpoint wants; a call and its result get the same.
func (e *encoder) callID(id string) string {
	if e.f.cappedIDs {
		id = endpoint.ShortID(id, cappedID)
	}
	if !e.f.shortIDs || len(id) == 9 && !strings.ContainsFunc(id, notAlnum) {
		return id
	}
	h := fnv.New64a()
	h.Write([]byte(id)) // a hash takes everything
	s := new(big.Int).SetUint64(h.Sum64()).Text(62)
	return (s + "000000000")[:9]
}

// cappedID is the longest call id of providers that limit it, in characters.
const cappedID = 40

func notAlnum(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
