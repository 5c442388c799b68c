package anthropic

import (
	"slices"
	"strconv"

	"jcode/agent/model"
	"jcode/agent/model/endpoint"
	"jcode/internal/schema"
)

// The values of the Anthropic-Beta header that requests may carry.
const (
	betaInterleaved = "interleaved-thinking-2025-05-14"
	betaBinding     = "thinking-binding-controls-2026-08-01"
	betaInlineTools = "inline-tools-2026-09-15"
)

// encoder writes a request as JSON, once per step. What is the same in every step comes first (model, tools,
// system prompt, the older messages), so that two requests of a session share their beginning.
type encoder struct {
	b        []byte
	f        *features
	req      *model.Request
	extra    []endpoint.Field // the provider's own fields; they take precedence over ours
	provider string           // the name under which opaque parts were kept
	betas    []string
	turns    []turn
}

func (e *encoder) encode() []byte {
	e.turns = turnsOf(e.req, e.f, e.provider)
	e.b = make([]byte, 0, e.size())
	e.b = append(e.b, '{')
	e.settings()
	for _, x := range e.extra {
		e.field(x.Name)
		e.b = append(e.b, x.Raw...)
	}
	e.tools()
	e.system()
	e.messages()
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
			n += 128 + len(m.Calls[k].Arguments)
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
	most := f.maxTokens
	if r.MaxOutputTokens > 0 {
		most = min(r.MaxOutputTokens, f.maxTokens)
	}
	if e.own("max_tokens") {
		e.b = strconv.AppendInt(e.b, int64(most), 10)
	}
	thinks := e.thinking(most)
	if f.Temperature && r.Temperature != nil && !thinks && e.own("temperature") {
		e.b = strconv.AppendFloat(e.b, *r.Temperature, 'g', -1, 64)
	}
	if f.TopP && r.TopP != nil && !thinks && e.own("top_p") {
		e.b = strconv.AppendFloat(e.b, *r.TopP, 'g', -1, 64)
	}
	if level := endpoint.NearestEffort(f.Efforts, r.ReasoningEffort); f.effort && level != "" && level != "none" && level != "minimal" && e.own("output_config") {
		e.raw(`{"effort":`)
		e.str(level)
		e.raw(`}`)
	}
}

// budget returns the number of tokens for thinking at an effort, for models that want a number.
func budget(effort string) int {
	switch effort {
	case "low":
		return 4_096
	case "high":
		return 24_000
	case "xhigh", "max":
		return 32_000
	}
	return 10_000
}

// thinking writes how the model thinks, and reports whether it does: thinking excludes a temperature.
func (e *encoder) thinking(most int) bool {
	r, f := e.req, e.f
	off := r.Purpose != model.PurposeTurn || r.ReasoningEffort == "none" || r.ReasoningEffort == "minimal"
	switch {
	case f.thinking == thinksNot:
		return false
	case off:
		if f.noThinking && f.thinking == thinksAdaptive && e.own("thinking") {
			e.raw(`{"type":"disabled"}`)
		}
		return false
	case f.thinking == thinksAdaptive:
		if e.own("thinking") {
			e.raw(`{"type":"adaptive"`)
			if f.display {
				e.raw(`,"display":"summarized"`)
			}
			e.binding()
			e.raw(`}`)
		}
		return true
	}
	tokens := min(budget(r.ReasoningEffort), most/2)
	if tokens < 1024 || r.Temperature != nil && r.ReasoningEffort == "" || e.unthought() {
		return false
	}
	if f.interleaved && f.betas {
		e.betas = append(e.betas, betaInterleaved)
	}
	if e.own("thinking") {
		e.raw(`{"type":"enabled","budget_tokens":`)
		e.b = strconv.AppendInt(e.b, int64(tokens), 10)
		e.binding()
		e.raw(`}`)
	}
	return true
}

// binding lets the server drop thinking that belongs to a different beginning.
func (e *encoder) binding() {
	if e.f.dropBlocks && e.f.betas {
		e.betas = append(e.betas, betaBinding)
		e.raw(`,"block_binding":{"prefix_mismatch_behavior":"drop_block"}`)
	}
}

// unthought reports whether the calls of the last results were made without thinking: a model with a budget
// must not start to think in the middle of a turn.
func (e *encoder) unthought() bool {
	for i := len(e.turns) - 1; i >= 0; i-- {
		t := &e.turns[i]
		if t.role != roleAssistant {
			continue
		}
		return t.hasCalls() && !t.beginsThinking()
	}
	return false
}

func (e *encoder) tools() {
	var list []*model.Tool
	inline := e.inline()
	for i := range e.req.Tools {
		if !inline[e.req.Tools[i].Name] {
			list = append(list, &e.req.Tools[i])
		}
	}
	search := e.searches()
	if len(list) == 0 && !search || !e.own("tools") {
		return
	}
	e.raw("[")
	if search {
		e.raw(searchTool)
		e.marker(len(list) == 0)
		e.raw("}")
	}
	for i, t := range list {
		if i > 0 || search {
			e.raw(",")
		}
		e.tool(t)
		if i == len(list)-1 {
			e.marker(true)
		}
		e.raw("}")
	}
	e.raw("]")
}

// tool writes a tool without its closing brace.
func (e *encoder) tool(t *model.Tool) {
	e.raw(`{"name":`)
	e.str(t.Name)
	if t.Description != "" {
		e.raw(`,"description":`)
		e.str(t.Description)
	}
	e.raw(`,"input_schema":`)
	switch {
	case len(t.Parameters) == 0:
		e.raw(`{"type":"object","properties":{}}`)
	case e.f.Simple && !schema.IsSimple(t.Parameters):
		e.b = append(e.b, schema.Simple(t.Parameters)...)
	default:
		e.b = append(e.b, t.Parameters...)
	}
	if e.f.eager {
		e.raw(`,"eager_input_streaming":true`)
	}
}

// inline returns the names of the tools that are declared within the conversation.
func (e *encoder) inline() map[string]bool {
	inline := changesOf(e.req, e.f).inline
	for i := range e.turns {
		if e.turns[i].role == roleSystem {
			e.betas = append(e.betas, betaInlineTools)
			break
		}
	}
	return inline
}

// marker asks the provider to cache the prompt up to here. Side requests are not cached.
func (e *encoder) marker(set bool) {
	if !set || !e.f.cache || e.req.Purpose != model.PurposeTurn {
		return
	}
	e.raw(`,"cache_control":{"type":"ephemeral"`)
	if e.f.cacheHour {
		e.raw(`,"ttl":"1h"`)
	}
	e.raw(`}`)
}
