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
	e.B = append(e.B, '}')
	return e.B
}

func (e *encoder) settings() {
	r, f := e.req, e.f
	if e.Own("model") {
		e.B = endpoint.AppendString(e.B, r.Model)
	}
	if e.Own("stream") {
		e.B = append(e.B, "true"...)
	}
	if f.streamOptions && e.Own("stream_options") {
		e.B = append(e.B, `{"include_usage":true}`...)
	}
	if f.Temperature && r.Temperature != nil && e.Own("temperature") {
		e.B = strconv.AppendFloat(e.B, *r.Temperature, 'g', -1, 64)
	}
	if f.TopP && r.TopP != nil && e.Own("top_p") {
		e.B = strconv.AppendFloat(e.B, *r.TopP, 'g', -1, 64)
	}
	effort := endpoint.NearestEffort(f.Efforts, r.ReasoningEffort)
	if f.forcedEffort != "" && len(r.Tools) > 0 {
		effort = f.forcedEffort
	}
	if f.effort && effort != "" && e.Own("reasoning_effort") {
		e.B = endpoint.AppendString(e.B, effort)
	}
	if r.MaxOutputTokens > 0 && e.Own(f.maxTokensField) {
		e.B = strconv.AppendInt(e.B, int64(r.MaxOutputTokens), 10)
	}
}

func (e *encoder) tools() {
	if len(e.req.Tools) == 0 || !e.Own("tools") {
		return
	}
	for i := range e.req.Tools {
		t := &e.req.Tools[i]
		e.B = append(e.B, sep(i, '[')...)
		e.B = append(e.B, `{"type":"function","function":{"name":`...)
		e.B = endpoint.AppendString(e.B, t.Name)
		if t.Description != "" {
			e.B = append(e.B, `,"description":`...)
			e.B = endpoint.AppendString(e.B, t.Description)
		}
		e.B = append(e.B, `,"parameters":`...)
		if len(t.Parameters) == 0 {
			e.B = append(e.B, `{"type":"object","properties":{}}`...)
		}
		if e.f.Simple && !schema.IsSimple(t.Parameters) {
			e.B = append(e.B, schema.Simple(t.Parameters)...)
		} else {
			e.B = append(e.B, t.Parameters...)
		}
		if e.f.strict {
			e.B = append(e.B, `,"strict":true`...)
		}
		e.B = append(e.B, '}')
		if i == len(e.req.Tools)-1 {
			e.marker(e.f.markers)
		}
		e.B = append(e.B, '}')
	}
	e.B = append(e.B, ']')
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
		e.B = append(e.B, `,"cache_control":{"type":"ephemeral"}`...)
	}
}

func (e *encoder) messages() {
	if !e.Own("messages") {
		return
	}
	e.B = append(e.B, '[')
	list := e.req.Messages
	switch {
	case e.req.System == "":
	case e.f.systemRole == "": // it goes into the first user message
		list = append([]model.Message{{Role: model.RoleUser, Text: e.req.System}}, list...)
	default:
		e.begin(e.f.systemRole)
		e.content(e.req.System, nil, e.f.markers)
		e.B = append(e.B, '}')
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
	e.B = append(e.B, ']')
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
		e.B = append(e.B, '}')
	}
	return nil
}

func (e *encoder) begin(role string) {
	if e.B[len(e.B)-1] != '[' {
		e.B = append(e.B, ',')
	}
	e.B = append(e.B, `{"role":`...)
	e.B = endpoint.AppendString(e.B, role)
}

func (e *encoder) message(m *model.Message, mark bool) {
	switch {
	case m.Role == model.RoleAssistant && m.Text == "" && len(m.Calls) == 0:
		return // an empty message is never sent
	case m.Role == model.RoleTool:
		e.begin("tool")
		e.B = append(e.B, `,"tool_call_id":`...)
		e.B = endpoint.AppendString(e.B, e.callID(m.CallID))
		if e.f.toolNames && m.Name != "" {
			e.B = append(e.B, `,"name":`...)
			e.B = endpoint.AppendString(e.B, endpoint.SafeName(m.Name))
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
	e.B = append(e.B, '}')
}

func (e *encoder) assistant(m *model.Message, mark bool) {
	if m.Text == "" || e.f.bareCalls && len(m.Calls) > 0 {
		e.B = append(e.B, `,"content":null`...)
	} else {
		e.content(m.Text, nil, mark)
	}
	if thought := m.Reasoning; e.f.reasoning && (thought != "" || e.f.blankReasoning && len(m.Calls) > 0) {
		if thought == "" {
			thought = " " // another model's call: the endpoint requires reasoning with each call, and accepts a space
		}
		e.B = append(e.B, `,"reasoning_content":`...)
		e.B = endpoint.AppendString(e.B, thought)
	}
	back := backTo(m, e.provider, e.req.Model)
	e.wholeMessage(back)
	if len(m.Calls) == 0 {
		return
	}
	e.B = append(e.B, `,"tool_calls":`...)
	for i := range m.Calls {
		c := &m.Calls[i]
		e.B = append(e.B, sep(i, '[')...)
		e.B = append(e.B, `{"id":`...)
		e.B = endpoint.AppendString(e.B, e.callID(c.ID))
		e.B = append(e.B, `,"type":"function","function":{"name":`...)
		e.B = endpoint.AppendString(e.B, endpoint.SafeName(c.Name))
		e.B = append(e.B, `,"arguments":`...)
		if strings.TrimSpace(c.Arguments) == "" {
			e.B = append(e.B, `"{}"`...)
		} else {
			e.B = endpoint.AppendString(e.B, c.Arguments)
		}
		e.B = append(e.B, '}')
		if kept := withCall(back, i); kept != "" {
			e.B = append(append(e.B, `,"extra_content":`...), kept...)
		} else if e.f.signatures && i == 0 {
			// The value that Google documents for calls of unknown origin.
			e.B = append(e.B, `,"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`...)
		}
		e.B = append(e.B, '}')
	}
	e.B = append(e.B, ']')
}

// wholeMessage writes the opaque parts that belong to a message as a whole.
func (e *encoder) wholeMessage(back []model.Opaque) {
	for _, o := range back {
		switch o.Kind {
		case opaqueDetails, opaqueMessage:
			e.B = append(e.B, `,"`+o.Kind+`":`...)
			e.B = append(e.B, o.Raw...)
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
	e.B = append(e.B, `,"content":`...)
	s, images = model.Given(s, images, func(mime string) bool { return e.f.Images && picturesAlone(mime) })
	if len(images) == 0 && !mark {
		e.B = endpoint.AppendString(e.B, s)
		return
	}
	e.B = append(e.B, '[')
	if strings.TrimSpace(s) != "" {
		e.B = append(e.B, `{"type":"text","text":`...)
		e.B = endpoint.AppendString(e.B, s)
		e.marker(mark)
		e.B = append(e.B, '}')
	}
	for _, img := range images {
		if e.B[len(e.B)-1] != '[' {
			e.B = append(e.B, ',')
		}
		e.B = append(e.B, `{"type":"image_url","image_url":{"url":"data:`...)
		e.B = endpoint.AppendEscaped(e.B, img.MIME)
		e.B = append(e.B, ";base64,"...)
		e.B = base64.StdEncoding.AppendEncode(e.B, img.Data)
		e.B = append(e.B, `"}}`...)
	}
	e.B = append(e.B, ']')
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
