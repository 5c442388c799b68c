package anthropic

import (
	"slices"
	"strings"

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
	endpoint.Body
	f        *features
	req      *model.Request
	at       envelope
	provider string // the name under which opaque parts were kept
	betas    []string
	turns    []turn
}

func (e *encoder) encode() []byte {
	e.turns = turnsOf(e.req, e.f, e.provider)
	e.settings()
	e.Extras()
	e.tools()
	e.system()
	e.messages()
	if e.at.betasInBody && len(e.betas) > 0 {
		e.Field("anthropic_beta")
		e.Raw("[")
		for _, b := range e.betas {
			e.Element()
			e.Str(b)
		}
		e.Raw("]")
	}
	e.Raw("}")
	return e.B
}

func (e *encoder) settings() {
	r, f := e.req, e.f
	most := f.most(r)
	if n, _ := e.Has("max_tokens"); n > 0 {
		most = n
	}
	if e.Own("max_tokens") {
		e.Int(most)
	}
	if !e.thinking(most) {
		e.Sampling(r, &f.Form)
	}
	level, answer := f.level(r), f.Answers && len(r.Answer) > 0
	if level == "" && !answer || !e.Own("output_config") {
		return
	}
	e.Raw("{")
	if level != "" {
		e.Field("effort")
		e.Str(level)
	}
	if answer {
		e.Field("format")
		e.Raw(`{"type":"json_schema","schema":`)
		e.Raw(string(r.Answer))
		e.Raw("}")
	}
	e.Raw("}")
}

// answers is what the schema of an answer may hold.
func answers() schema.Subset {
	return schema.Subset{
		Keywords: strings.Fields("type properties required additionalProperties items anyOf allOf enum const $ref $defs definitions title description default format"),
		Closed:   true, Depth: 20, Properties: 500,
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
	switch f.word(r) {
	case wordNone:
		return f.always && f.thinking != thinksNot
	case wordDisabled:
		if e.Own("thinking") {
			e.Raw(`{"type":"disabled"}`)
		}
		return false
	case wordAdaptive:
		if e.Own("thinking") {
			e.Raw(`{"type":"adaptive"`)
			if f.display {
				e.Raw(`,"display":"summarized"`)
			}
			e.binding()
			e.Raw(`}`)
		}
		return true
	case wordBudget:
	}
	tokens := min(budget(r.ReasoningEffort), most/2)
	if tokens < 1024 || r.Temperature != nil && r.ReasoningEffort == "" || e.unthought() {
		return false
	}
	if f.interleaved && f.betas {
		e.betas = append(e.betas, betaInterleaved)
	}
	if e.Own("thinking") {
		e.Raw(`{"type":"enabled","budget_tokens":`)
		e.Int(tokens)
		e.binding()
		e.Raw(`}`)
	}
	return true
}

// binding lets the server drop thinking that belongs to a different beginning.
func (e *encoder) binding() {
	if e.f.dropBlocks && e.f.betas {
		e.betas = append(e.betas, betaBinding)
		e.Raw(`,"block_binding":{"prefix_mismatch_behavior":"drop_block"}`)
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
	if len(list) == 0 && !search || !e.Own("tools") {
		return
	}
	e.Raw("[")
	if search {
		e.Raw(searchTool)
		e.marker(len(list) == 0)
		e.Raw("}")
	}
	for i, t := range list {
		e.Element()
		e.tool(t)
		if i == len(list)-1 {
			e.marker(true)
		}
		e.Raw("}")
	}
	e.Raw("]")
}

// tool writes a tool without its closing brace.
func (e *encoder) tool(t *model.Tool) {
	e.Raw(`{"name":`)
	e.Str(t.Name)
	if t.Description != "" {
		e.Raw(`,"description":`)
		e.Str(t.Description)
	}
	e.Raw(`,"input_schema":`)
	e.Schema(t, &e.f.Form)
	if e.f.eager {
		e.Raw(`,"eager_input_streaming":true`)
	}
}

// inline returns the names of the tools that are declared within the conversation.
func (e *encoder) inline() map[string]bool {
	if slices.ContainsFunc(e.turns, func(t turn) bool { return t.role == roleSystem }) {
		e.betas = append(e.betas, betaInlineTools)
	}
	return changesOf(e.req, e.f).inline
}

// marker asks the provider to cache the prompt up to here. Side requests are not cached.
func (e *encoder) marker(set bool) {
	if !set || !e.f.cache || e.req.Purpose.Beside() {
		return
	}
	e.Raw(`,"cache_control":{"type":"ephemeral"`)
	if e.f.cacheHour {
		e.Raw(`,"ttl":"1h"`)
	}
	e.Raw(`}`)
}
