package responses

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/endpoint"
)

// encoder writes a request as JSON, once per step. What is the same in every step comes first, so that two
// requests of a session share their beginning.
type encoder struct {
	endpoint.Body
	f        *features
	req      *model.Request
	provider string          // the name under which opaque parts were kept
	custom   map[string]bool // ids of calls of tools that take plain text
}

func (e *encoder) encode() []byte {
	e.custom = map[string]bool{}
	e.settings()
	e.Extras()
	e.tools()
	if e.req.System != "" && e.Own("instructions") {
		e.Str(e.req.System)
	}
	e.input()
	e.Raw("}")
	return e.B
}

func (e *encoder) settings() {
	r, f := e.req, e.f
	if f.store && e.Own("store") {
		e.Raw("false")
	}
	e.include()
	if f.cacheKey && r.Session != "" && e.Own("prompt_cache_key") {
		e.Str(r.Session)
	}
	e.reasoning()
	e.Sampling(r, &f.Form)
	if f.maxOutput && r.MaxOutputTokens > 0 && e.Own("max_output_tokens") {
		e.Int(r.MaxOutputTokens)
	}
	if f.Answers && len(r.Answer) > 0 && e.Own("text") {
		e.Raw(`{"format":{"type":"json_schema","name":"answer","strict":true,"schema":`)
		e.Raw(string(r.Answer))
		e.Raw(`}}`)
	}
}

func (e *encoder) reasoning() {
	f := e.f
	effort := endpoint.NearestEffort(f.Efforts, e.req.ReasoningEffort)
	if !f.effort {
		effort = ""
	}
	summary := f.summary && !e.req.Purpose.Beside()
	if !f.reasons || effort == "" && !summary || !e.Own("reasoning") {
		return
	}
	e.Raw("{")
	if effort != "" {
		e.Field("effort")
		e.Str(effort)
	}
	if summary {
		e.Field("summary")
		e.Raw(`"auto"`)
	}
	e.Raw("}")
}

func (e *encoder) tools() {
	list, search := e.req.Tools, e.searches()
	if len(list) == 0 && !search {
		return
	}
	if e.f.parallel && e.Own("parallel_tool_calls") {
		e.Raw("true")
	}
	if !e.Own("tools") {
		return
	}
	e.Raw("[")
	if search {
		e.Raw(`{"type":"web_search"}`)
	}
	for i := range list {
		t := &list[i]
		e.Element()
		if t.Freeform != "" && e.f.custom {
			e.Raw(`{"type":"custom","name":`)
			e.Str(t.Name)
			e.Raw(`,"description":`)
			e.Str(t.Description)
			if t.Grammar != "" && e.f.grammar {
				e.Raw(`,"format":{"type":"grammar","syntax":"lark","definition":`)
				e.Str(t.Grammar)
				e.Raw("}")
			}
			e.Raw("}")
			continue
		}
		e.Raw(`{"type":"function","name":`)
		e.Str(t.Name)
		if t.Description != "" {
			e.Raw(`,"description":`)
			e.Str(t.Description)
		}
		e.Raw(`,"parameters":`)
		e.Schema(t, &e.f.Form)
		e.Raw(`,"strict":false}`) // the default is true
	}
	e.Raw("]")
}

func (e *encoder) input() {
	if !e.Own("input") {
		return
	}
	e.Raw("[")
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
	e.Raw("]")
}

// item begins an item of the input.
func (e *encoder) item(kind string) {
	e.Element()
	e.Raw(`{"type":"` + kind + `"`)
}

func (e *encoder) person(m *model.Message) {
	e.item("message")
	e.Raw(`,"role":"user","content":`)
	e.parts(m.Text, m.Images)
	e.Raw("}")
}

// parts writes text, and images if there are any.
func (e *encoder) parts(text string, images []model.Image) {
	text, images = model.Given(text, images, e.f.Takes)
	e.Raw("[")
	if strings.TrimSpace(text) != "" || len(images) == 0 {
		e.Raw(`{"type":"input_text","text":`)
		e.Str(text)
		e.Raw("}")
	}
	for i := range images {
		e.Element()
		if images[i].MIME == model.MIMEPDF {
			e.Raw(`{"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,`)
		} else {
			e.Raw(`{"type":"input_image","image_url":"data:`)
			e.B = endpoint.AppendEscaped(e.B, images[i].MIME)
			e.Raw(";base64,")
		}
		e.B = base64.StdEncoding.AppendEncode(e.B, images[i].Data)
		e.Raw(`"}`)
	}
	e.Raw("]")
}

func (e *encoder) result(m *model.Message) {
	kind := "function_call_output"
	if e.custom[m.CallID] {
		kind = "custom_tool_call_output"
	}
	e.item(kind)
	e.Raw(`,"call_id":`)
	e.Str(callID(m.CallID))
	e.Raw(`,"output":`)
	text := m.Text
	if strings.TrimSpace(text) == "" {
		text = "(no output)"
	}
	if len(m.Images) == 0 {
		e.Str(text)
	} else {
		e.parts(text, m.Images)
	}
	e.Raw("}")
}

// answer writes an answer again: its text and calls, with the reasoning between them if it may go back to
// this model.
func (e *encoder) answer(m *model.Message) {
	text, calls, phase := 0, 0, ""
	pending := "" // reasoning, which must not be sent without what it led to
	lead := func() {
		if pending != "" {
			e.Element()
			e.Raw(pending)
			pending = ""
		}
	}
	custom := map[int]bool{}
	upTo := func(toText, toCalls int) {
		toText, toCalls = min(max(toText, text), len(m.Text)), min(max(toCalls, calls), len(m.Calls))
		if s := m.Text[text:toText]; strings.TrimSpace(s) != "" {
			lead()
			e.item("message")
			e.Raw(`,"role":"assistant","content":[{"type":"output_text","text":`)
			e.Str(s)
			e.Raw("}]")
			if phase != "" && e.f.phase {
				e.Raw(`,"phase":`)
				e.Str(phase)
			}
			e.Raw("}")
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
		case o.Kind == opaqueReasoning && e.f.encrypted && !e.f.lost[o.Raw]:
			if pending != "" {
				pending += ","
			}
			pending += o.Raw
		case o.Kind != opaqueReasoning:
			lead()
			e.Element()
			e.Raw(o.Raw)
		}
	}
	upTo(len(m.Text), len(m.Calls))
}

func (e *encoder) call(c *model.Call, custom bool) {
	if custom && e.f.custom {
		if text, ok := plainInput(c.Arguments); ok {
			e.custom[c.ID] = true
			e.item("custom_tool_call")
			e.Raw(`,"call_id":`)
			e.Str(callID(c.ID))
			e.Raw(`,"name":`)
			e.Str(model.SafeName(c.Name))
			e.Raw(`,"input":`)
			e.Str(text)
			e.Raw("}")
			return
		}
	}
	e.item("function_call")
	e.Raw(`,"call_id":`)
	e.Str(callID(c.ID))
	e.Raw(`,"name":`)
	e.Str(model.SafeName(c.Name))
	e.Raw(`,"arguments":`)
	if strings.TrimSpace(c.Arguments) == "" {
		e.Raw(`"{}"`)
	} else {
		e.Str(c.Arguments)
	}
	e.Raw("}")
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
