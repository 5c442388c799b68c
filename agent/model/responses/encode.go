package responses

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/endpoint"
	"jcode/internal/schema"
)

// encoder writes a request as JSON, once per step. What is the same in every step comes first, so that two
// requests of a session share their beginning.
type encoder struct {
	b        []byte
	f        *features
	req      *model.Request
	extra    []endpoint.Field // the provider's own fields; they take precedence over ours
	provider string           // the name under which opaque parts were kept
	custom   map[string]bool  // ids of calls of tools that take plain text
}

func (e *encoder) encode() []byte {
	e.b = make([]byte, 0, e.size())
	e.custom = map[string]bool{}
	e.b = append(e.b, '{')
	e.settings()
	for _, x := range e.extra {
		e.field(x.Name)
		e.b = append(e.b, x.Raw...)
	}
	e.tools()
	if e.req.System != "" && e.own("instructions") {
		e.str(e.req.System)
	}
	e.input()
	e.b = append(e.b, '}')
	return e.b
}

func (e *encoder) size() int {
	n := 1024 + len(e.req.System) + len(e.req.System)/8
	for i := range e.req.Tools {
		n += 128 + len(e.req.Tools[i].Description) + len(e.req.Tools[i].Parameters)
	}
	for i := range e.req.Messages {
		m := &e.req.Messages[i]
		n += 256 + len(m.Text) + len(m.Text)/8
		for k := range m.Calls {
			n += 128 + len(m.Calls[k].Arguments)*5/4
		}
		for k := range m.Opaque {
			n += len(m.Opaque[k].Raw)
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
	e.str(name)
	e.b = append(e.b, ':')
}

func (e *encoder) str(s string) { e.b = endpoint.AppendString(e.b, s) }

func (e *encoder) raw(s string) { e.b = append(e.b, s...) }

// own starts a field of the body unless the provider's own fields set it.
func (e *encoder) own(name string) bool {
	if slices.ContainsFunc(e.extra, func(x endpoint.Field) bool { return x.Name == name }) {
		return false
	}
	e.field(name)
	return true
}

func (e *encoder) settings() {
	r, f := e.req, e.f
	if e.own("model") {
		e.str(r.Model)
	}
	if e.own("stream") {
		e.raw("true")
	}
	if f.store && e.own("store") {
		e.raw("false")
	}
	e.include()
	if f.cacheKey && r.Session != "" && e.own("prompt_cache_key") {
		e.str(r.Session)
	}
	e.reasoning()
	if f.Temperature && r.Temperature != nil && e.own("temperature") {
		e.b = strconv.AppendFloat(e.b, *r.Temperature, 'g', -1, 64)
	}
	if f.TopP && r.TopP != nil && e.own("top_p") {
		e.b = strconv.AppendFloat(e.b, *r.TopP, 'g', -1, 64)
	}
	if f.maxOutput && r.MaxOutputTokens > 0 && e.own("max_output_tokens") {
		e.b = strconv.AppendInt(e.b, int64(r.MaxOutputTokens), 10)
	}
}

func (e *encoder) reasoning() {
	f := e.f
	effort := endpoint.NearestEffort(f.Efforts, e.req.ReasoningEffort)
	if !f.effort {
		effort = ""
	}
	summary := f.summary && e.req.Purpose == model.PurposeTurn
	if !f.reasons || effort == "" && !summary || !e.own("reasoning") {
		return
	}
	e.raw("{")
	if effort != "" {
		e.field("effort")
		e.str(effort)
	}
	if summary {
		e.field("summary")
		e.raw(`"auto"`)
	}
	e.raw("}")
}

func (e *encoder) tools() {
	list, search := e.req.Tools, e.searches()
	if len(list) == 0 && !search {
		return
	}
	if e.f.parallel && e.own("parallel_tool_calls") {
		e.raw("true")
	}
	if !e.own("tools") {
		return
	}
	e.raw("[")
	if search {
		e.raw(`{"type":"web_search"}`)
	}
	for i := range list {
		t := &list[i]
		if i > 0 || search {
			e.raw(",")
		}
		if t.Freeform != "" && e.f.custom {
			e.raw(`{"type":"custom","name":`)
			e.str(t.Name)
			e.raw(`,"description":`)
			e.str(t.Description)
			if t.Grammar != "" && e.f.grammar {
				e.raw(`,"format":{"type":"grammar","syntax":"lark","definition":`)
				e.str(t.Grammar)
				e.raw("}")
			}
			e.raw("}")
			continue
		}
		e.raw(`{"type":"function","name":`)
		e.str(t.Name)
		if t.Description != "" {
			e.raw(`,"description":`)
			e.str(t.Description)
		}
		e.raw(`,"parameters":`)
		switch {
		case len(t.Parameters) == 0:
			e.raw(`{"type":"object","properties":{}}`)
		case e.f.Simple && !schema.IsSimple(t.Parameters):
			e.b = append(e.b, schema.Simple(t.Parameters)...)
		default:
			e.b = append(e.b, t.Parameters...)
		}
		e.raw(`,"strict":false}`) // the default is true
	}
	e.raw("]")
}

func (e *encoder) input() {
	if !e.own("input") {
		return
	}
	e.raw("[")
	for i := range e.req.Messages {
		m := &e.req.Messages[i]
		switch m.Role {
		case model.RoleUser:
			e.person(m)
		case model.RoleAssistant:
			e.answer(m)
		case model.RoleTool:
			e.result(m)
		}
	}
	e.raw("]")
}

// item begins an item of the input.
func (e *encoder) item(kind string) {
	if e.b[len(e.b)-1] != '[' {
		e.b = append(e.b, ',')
	}
	e.raw(`{"type":"` + kind + `"`)
}

func (e *encoder) person(m *model.Message) {
	e.item("message")
	e.raw(`,"role":"user","content":`)
	e.parts(m.Text, m.Images)
	e.raw("}")
}

// parts writes text, and images if there are any.
func (e *encoder) parts(text string, images []model.Image) {
	text, images = model.Given(text, images, e.f.Takes)
	e.raw("[")
	if strings.TrimSpace(text) != "" || len(images) == 0 {
		e.raw(`{"type":"input_text","text":`)
		e.str(text)
		e.raw("}")
	}
	for i := range images {
		if e.b[len(e.b)-1] != '[' {
			e.raw(",")
		}
		if images[i].MIME == model.MIMEPDF {
			e.raw(`{"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,`)
		} else {
			e.raw(`{"type":"input_image","image_url":"data:`)
			e.b = endpoint.AppendEscaped(e.b, images[i].MIME)
			e.raw(";base64,")
		}
		e.b = base64.StdEncoding.AppendEncode(e.b, images[i].Data)
		e.raw(`"}`)
	}
	e.raw("]")
}

func (e *encoder) result(m *model.Message) {
	kind := "function_call_output"
	if e.custom[m.CallID] {
		kind = "custom_tool_call_output"
	}
	e.item(kind)
	e.raw(`,"call_id":`)
	e.str(callID(m.CallID))
	e.raw(`,"output":`)
	text := m.Text
	if strings.TrimSpace(text) == "" {
		text = "(no output)"
	}
	if len(m.Images) == 0 {
		e.str(text)
	} else {
		e.parts(text, m.Images)
	}
	e.raw("}")
}

// answer writes an answer again: its text and calls, with the reasoning between them if it may go back to
// this model.
func (e *encoder) answer(m *model.Message) {
	text, calls, phase := 0, 0, ""
	pending := "" // reasoning, which must not be sent without what it led to
	lead := func() {
		if pending != "" {
			if e.b[len(e.b)-1] != '[' {
				e.raw(",")
			}
			e.raw(pending)
			pending = ""
		}
	}
	custom := map[int]bool{}
	upTo := func(toText, toCalls int) {
		toText, toCalls = min(max(toText, text), len(m.Text)), min(max(toCalls, calls), len(m.Calls))
		if s := m.Text[text:toText]; strings.TrimSpace(s) != "" {
			lead()
			e.item("message")
			e.raw(`,"role":"assistant","content":[{"type":"output_text","text":`)
			e.str(s)
			e.raw("}]")
			if phase != "" && e.f.phase {
				e.raw(`,"phase":`)
				e.str(phase)
			}
			e.raw("}")
			phase = ""
		}
		for i := calls; i < toCalls; i++ {
			lead()
			e.call(&m.Calls[i], custom[i])
		}
		text, calls = toText, toCalls
	}
	for _, o := range m.Opaque {
		if !catalogue.GoesBack(o, Protocol, e.provider, e.req.Model) {
			continue
		}
		if o.Kind == opaqueCustom {
			custom[o.Calls] = true
			continue
		}
		upTo(o.Text, o.Calls)
		switch {
		case o.Kind == opaqueMessage:
			phase = phaseOf(o.Raw)
		case o.Kind == opaqueReasoning && e.f.encrypted:
			if pending != "" {
				pending += ","
			}
			pending += o.Raw
		case o.Kind != opaqueReasoning:
			lead()
			if e.b[len(e.b)-1] != '[' {
				e.raw(",")
			}
			e.raw(o.Raw)
		}
	}
	upTo(len(m.Text), len(m.Calls))
}

func (e *encoder) call(c *model.Call, custom bool) {
	if custom && e.f.custom {
		if text, ok := plainInput(c.Arguments); ok {
			e.custom[c.ID] = true
			e.item("custom_tool_call")
			e.raw(`,"call_id":`)
			e.str(callID(c.ID))
			e.raw(`,"name":`)
			e.str(endpoint.SafeName(c.Name))
			e.raw(`,"input":`)
			e.str(text)
			e.raw("}")
			return
		}
	}
	e.item("function_call")
	e.raw(`,"call_id":`)
	e.str(callID(c.ID))
	e.raw(`,"name":`)
	e.str(endpoint.SafeName(c.Name))
	e.raw(`,"arguments":`)
	if strings.TrimSpace(c.Arguments) == "" {
		e.raw(`"{}"`)
	} else {
		e.str(c.Arguments)
	}
	e.raw("}")
}

// plainInput returns the only string of a call whose tool takes plain text.
func plainInput(arguments string) (string, bool) {
	var members map[string]any
	if json.Unmarshal([]byte(arguments), &members) != nil || len(members) != 1 {
		return "", false
	}
	for _, v := range members {
		s, ok := v.(string)
		return s, ok
	}
	return "", false
}

// callID limits an id to the maximum length; a call and its result get the same.
func callID(id string) string { return endpoint.ShortID(id, 64) }
