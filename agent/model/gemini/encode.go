package gemini

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/endpoint"
)

// encoder writes a request as JSON, once per step. What is the same in every step comes first, so that two requests of
// a session share their beginning.
type encoder struct {
	endpoint.Body
	f        *features
	req      *model.Request
	provider string            // the name under which opaque parts were kept
	ids      map[string]string // Google's own IDs of calls, by those of the history
}

func (e *encoder) encode() []byte {
	e.ids = map[string]string{}
	e.settings()
	e.Extras()
	if e.req.System != "" && e.Own("systemInstruction") {
		e.Raw(`{"parts":[`)
		e.text(e.req.System)
		e.Raw(`]}`)
	}
	e.tools()
	e.contents()
	e.Raw("}")
	return e.B
}

func (e *encoder) settings() {
	r := e.req
	if !e.Own("generationConfig") {
		return
	}
	e.Raw("{")
	for _, set := range []struct {
		name  string
		value *float64
		takes bool
	}{{"temperature", r.Temperature, e.f.Temperature}, {"topP", r.TopP, e.f.TopP}} {
		if set.takes && set.value != nil {
			e.Field(set.name)
			b, _ := json.Marshal(*set.value) // a number of the settings is finite
			e.Raw(string(b))
		}
	}
	if r.MaxOutputTokens > 0 {
		e.Field("maxOutputTokens")
		e.Int(r.MaxOutputTokens)
	}
	if e.f.Answers && len(r.Answer) > 0 {
		e.Field("responseMimeType")
		e.Raw(`"application/json"`)
		e.Field("responseJsonSchema")
		e.Raw(string(r.Answer))
	}
	if e.f.thinking != thinksNot {
		e.Field("thinkingConfig")
		e.thinking()
	}
	e.Raw("}")
}

// thinking writes how much the model thinks, and that it shows what.
func (e *encoder) thinking() {
	e.Raw("{")
	if !e.req.Purpose.Beside() && e.f.shown {
		e.Field("includeThoughts")
		e.Raw("true")
	}
	switch e.f.thinking {
	case thinksLevel:
		if level := e.f.level(e.req); level != "" {
			e.Field("thinkingLevel")
			e.Str(level)
		}
	case thinksBudget:
		if tokens, set := e.f.budget(e.req); set {
			e.Field("thinkingBudget")
			e.Int(tokens)
		}
	case thinksNot:
	}
	e.Raw("}")
}

func (e *encoder) tools() {
	if len(e.req.Tools) == 0 || !e.Own("tools") {
		return
	}
	e.Raw(`[{"functionDeclarations":[`)
	for i := range e.req.Tools {
		t := &e.req.Tools[i]
		e.Element()
		e.Raw(`{"name":`)
		e.Str(t.Name)
		e.Raw(`,"description":`)
		e.Str(t.Description)
		e.Raw(`,"parametersJsonSchema":`)
		e.B = append(e.B, accepted(t.Parameters)...)
		e.Raw("}")
	}
	e.Raw("]}]")
}

func (e *encoder) contents() {
	if !e.Own("contents") {
		return
	}
	e.Raw("[")
	newest := e.newest()
	for i := 0; i < len(e.req.Messages); i++ {
		m := &e.req.Messages[i]
		switch m.Role {
		case model.RoleUser:
			e.person(m)
		case model.RoleAssistant:
			e.answer(m, i > newest)
		case model.RoleTool:
			i = e.results(i)
		}
	}
	e.Raw("]")
}

// newest returns the place of the last message of the user: the calls after it must have signatures.
func (e *encoder) newest() int {
	for i := len(e.req.Messages) - 1; i >= 0; i-- {
		if e.req.Messages[i].Role == model.RoleUser {
			return i
		}
	}
	return -1
}

// content begins one side's content.
func (e *encoder) content(role string) {
	e.Element()
	e.Raw(`{"role":"` + role + `","parts":[`)
}

func (e *encoder) text(s string) {
	e.Element()
	e.Raw(`{"text":`)
	e.Str(s)
	e.Raw("}")
}

func (e *encoder) pictures(images []model.Image) {
	for i := range images {
		e.Element()
		e.Raw(`{"inlineData":{"mimeType":`)
		e.Str(images[i].MIME)
		e.Raw(`,"data":"`)
		e.B = base64.StdEncoding.AppendEncode(e.B, images[i].Data)
		e.Raw(`"}}`)
	}
}

func (e *encoder) person(m *model.Message) {
	text, images := model.Given(m.Text, m.Images, e.f.Takes)
	e.content("user")
	e.pictures(images)
	if strings.TrimSpace(text) != "" || len(images) == 0 {
		e.text(text)
	}
	e.Raw("]}")
}

// results writes all results of one answer as one content, from an index on, and returns the index of the last. Pictures
// among them follow in a content of their own.
func (e *encoder) results(i int) int {
	var seen []model.Image
	e.content("user")
	for ; i < len(e.req.Messages) && e.req.Messages[i].Role == model.RoleTool; i++ {
		m := &e.req.Messages[i]
		text, images := model.Given(m.Text, m.Images, e.f.Takes)
		seen = append(seen, images...)
		if strings.TrimSpace(text) == "" {
			text = "(no output)"
		}
		e.Element()
		e.Raw(`{"functionResponse":{`)
		if id := e.ids[m.CallID]; id != "" {
			e.Field("id")
			e.Str(id)
		}
		e.Field("name")
		e.Str(model.SafeName(m.Name))
		e.Field("response")
		e.Raw("{")
		if m.Failed {
			e.Field("error")
		} else {
			e.Field("output")
		}
		e.Str(text)
		e.Raw("}}}")
	}
	e.Raw("]}")
	if len(seen) > 0 {
		e.content("user")
		e.pictures(seen)
		e.text("[jcode] What the results above show.")
		e.Raw("]}")
	}
	return i - 1
}

// unsigned stands for the signature of a call that another model made. Google names this value for such histories.
const unsigned = "skip_thought_signature_validator"

// answer writes an answer again: parts with a signature as they came, if they may go back to this model.
func (e *encoder) answer(m *model.Message, current bool) {
	own := map[int]string{} // the parts of calls
	text, calls := 0, 0
	e.content("model")
	began := len(e.B)
	upTo := func(toText, toCalls int) {
		toText, toCalls = min(max(toText, text), len(m.Text)), min(max(toCalls, calls), len(m.Calls))
		if s := m.Text[text:toText]; strings.TrimSpace(s) != "" {
			e.text(s)
		}
		for i := calls; i < toCalls; i++ {
			e.call(&m.Calls[i], own[i], current && i == 0)
		}
		text, calls = toText, toCalls
	}
	for _, o := range m.Opaque {
		if o.Kind == opaqueCall && e.back(o) {
			own[o.Calls] = o.Raw
		}
	}
	for _, o := range m.Opaque {
		if o.Kind != opaqueText || !e.back(o) {
			continue
		}
		upTo(o.Text, o.Calls)
		e.Element()
		e.Raw(o.Raw)
		var p part
		if json.Unmarshal([]byte(o.Raw), &p) == nil && !p.Thought {
			text = min(text+len(p.Text), len(m.Text))
		}
	}
	upTo(len(m.Text), len(m.Calls))
	if len(e.B) == began { // a content without parts is refused
		e.text("(nothing)")
	}
	e.Raw("]}")
}

// back reports whether a part goes back to this model.
func (e *encoder) back(o model.Opaque) bool {
	return catalogue.GoesBack(o, Protocol, e.provider, e.req.Model) && !e.f.lost[o.Raw]
}

// call writes a call, as it came if that is known.
func (e *encoder) call(c *model.Call, raw string, first bool) {
	e.Element()
	if raw != "" {
		var p part
		if json.Unmarshal([]byte(raw), &p) == nil && p.FunctionCall != nil {
			e.ids[c.ID] = p.FunctionCall.ID
			e.Raw(raw)
			return
		}
	}
	e.Raw(`{"functionCall":{"name":`)
	e.Str(model.SafeName(c.Name))
	e.Raw(`,"args":`)
	if args := strings.TrimSpace(c.Arguments); strings.HasPrefix(args, "{") && json.Valid([]byte(args)) {
		e.Raw(args)
	} else {
		e.Raw("{}")
	}
	e.Raw("}")
	if first && e.f.signs {
		e.Raw(`,"thoughtSignature":"` + unsigned + `"`)
	}
	e.Raw("}")
}
