package chat

import (
	"fmt"
	"slices"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/endpoint"
	"jcode/agent/model/provider"
)

// features is the form of request that one model of one endpoint accepts. It starts from the provider's
// quirks and learns from refusals; what it learned lasts as long as the client.
type features struct {
	endpoint.Form
	systemRole     string // "system", "developer", or "" for the first user message
	maxTokensField string
	streamOptions  bool
	strict         bool
	effort         bool   // send reasoning_effort
	forcedEffort   string // send this reasoning_effort with tools
	reasoning      bool   // send reasoning_content back
	blankReasoning bool   // send a space as the reasoning of calls that have none
	markers        bool   // prompt cache markers
	cappedIDs      bool   // call ids of at most forty characters
	shortIDs       bool   // call ids of nine letters and digits
	toolNames      bool   // tool messages carry the tool's name
	signatures     bool   // calls need a thought signature
	alternate      bool   // turns must alternate
	bareCalls      bool   // calls are sent without the text before them
}

func newFeatures(cfg provider.Config, id string) *features {
	q := cfg.Quirks
	f := &features{
		Form:           endpoint.NewForm(q),
		systemRole:     "system",
		maxTokensField: "max_tokens",
		streamOptions:  !provider.Yes(q.NoStreamOptions),
		strict:         provider.Yes(q.Strict),
		effort:         true,
		reasoning:      provider.Yes(q.ReasoningBack),
		blankReasoning: provider.Yes(q.ReasoningBack),
		cappedIDs:      provider.Yes(q.CappedCallIDs),
		shortIDs:       provider.Yes(q.ShortCallIDs),
		alternate:      provider.Yes(q.AlternateTurns),
	}
	if info, _ := catalogue.Lookup(id, cfg.Models); q.ReasoningBack == nil && info.ThinksBack {
		f.reasoning = true
	}
	if provider.Yes(q.DeveloperRole) {
		f.systemRole = "developer"
	}
	if provider.Yes(q.MaxCompletionTokens) {
		f.maxTokensField = "max_completion_tokens"
	}
	for _, prefix := range q.CacheMarkers {
		f.markers = f.markers || strings.HasPrefix(id, prefix)
	}
	return f
}

// clone returns a copy for one request.
func (f *features) clone() *features {
	c := *f
	c.Form = f.Form.Copy()
	return &c
}

// remedy is one way to respond to a refusal.
type remedy = endpoint.Remedy[features]

// remedies returns the remedies in the order in which they are tried, each at most once per model. It is a
// function and not a variable, so it costs nothing at start.
func remedies() []remedy {
	form := func(f *features) *endpoint.Form { return &f.Form }
	hasCalls := func(r *model.Request) bool {
		return slices.ContainsFunc(r.Messages, func(m model.Message) bool { return len(m.Calls) > 0 })
	}
	hasReasoning := func(r *model.Request) bool {
		return slices.ContainsFunc(r.Messages, func(m model.Message) bool { return m.Reasoning != "" })
	}
	return []remedy{
		{
			Name:   "stream_options",
			Words:  []string{"stream_options", "include_usage"},
			Sent:   func(f *features, _ *model.Request) bool { return f.streamOptions },
			Apply:  func(f *features) { f.streamOptions = false },
			Notice: "token counts are estimated: the endpoint refuses stream_options",
		},
		endpoint.WithoutAnswerSchema(form, "response_format", "json_schema", "structured output"),
		{
			Name:   "strict",
			Words:  []string{"strict"},
			Sent:   func(f *features, r *model.Request) bool { return f.strict && len(r.Tools) > 0 },
			Apply:  func(f *features) { f.strict = false },
			Notice: "the endpoint refuses strict tool schemas; they are sent without",
		},
		{
			Name:   "reasoning needed",
			Words:  []string{"reasoning_content"},
			Sent:   func(f *features, r *model.Request) bool { return !f.reasoning && (hasReasoning(r) || hasCalls(r)) },
			Apply:  func(f *features) { f.reasoning, f.blankReasoning = true, true },
			Notice: "the endpoint wants its reasoning back; it is sent along from now on",
		},
		{
			Name:   "reasoning with each call",
			Words:  []string{"reasoning_content is missing", "missing reasoning_content", "missing `reasoning_content`", "must be passed back"},
			Sent:   func(f *features, r *model.Request) bool { return f.reasoning && !f.blankReasoning && hasCalls(r) },
			Apply:  func(f *features) { f.blankReasoning = true },
			Notice: "the endpoint wants reasoning with each call; a space is sent where there is none",
		},
		{
			Name:   "reasoning refused",
			Words:  []string{"reasoning_content"},
			Sent:   func(f *features, r *model.Request) bool { return f.reasoning && hasReasoning(r) },
			Apply:  func(f *features) { f.reasoning = false },
			Notice: "the endpoint refuses to get reasoning back; it is left out from now on",
		},
		{
			Name:   "effort none",
			Advice: []string{"responses api", "/v1/responses"},
			Sent:   func(f *features, r *model.Request) bool { return f.forcedEffort == "" && len(r.Tools) > 0 },
			Apply:  func(f *features) { f.forcedEffort = "none" },
			Notice: "the model takes tools here only with reasoning effort \"none\"; it is set",
		},
		{
			Name:  "effort",
			Words: []string{"reasoning_effort", "reasoning effort", "reasoningeffort", "effort level"},
			Sent: func(f *features, r *model.Request) bool {
				return f.effort && (r.ReasoningEffort != "" || f.forcedEffort != "")
			},
			Apply:  func(f *features) { f.effort = false },
			Notice: "the endpoint refuses the reasoning effort; it is left out",
		},
		endpoint.WithoutTemperature(form),
		endpoint.WithoutTopP(form),
		{
			Name:  "max tokens",
			Words: []string{"max_tokens", "max_completion_tokens"},
			Sent:  func(_ *features, r *model.Request) bool { return r.MaxOutputTokens > 0 },
			Apply: func(f *features) {
				if f.maxTokensField == "max_tokens" {
					f.maxTokensField = "max_completion_tokens"
				} else {
					f.maxTokensField = "max_tokens"
				}
			},
			Notice: "the endpoint calls the output limit otherwise; it is renamed",
		},
		{
			Name:   "developer",
			Words:  []string{"developer"},
			Sent:   func(f *features, _ *model.Request) bool { return f.systemRole == "developer" },
			Apply:  func(f *features) { f.systemRole = "system" },
			Notice: "the endpoint does not know the role developer; the system role is used",
		},
		{
			Name:   "system role",
			Words:  []string{"system role", "role 'system'", "system instruction is not", "does not support 'system'", "developer instruction is not"},
			Sent:   func(f *features, r *model.Request) bool { return f.systemRole == "system" && r.System != "" },
			Apply:  func(f *features) { f.systemRole = "" },
			Notice: "the model knows no system role; the first message says what it would",
		},
		{
			Name:   "alternate",
			Words:  []string{"roles must alternate", "after role", "last role", "message_order", "message order"},
			Sent:   func(f *features, _ *model.Request) bool { return !f.alternate },
			Apply:  func(f *features) { f.alternate = true },
			Notice: "the endpoint wants turns that alternate; messages are joined, and short ones put between",
		},
		{
			Name:   "bare calls",
			Words:  []string{"content or tool_calls, but not both"},
			Sent:   func(f *features, r *model.Request) bool { return !f.bareCalls && hasCalls(r) },
			Apply:  func(f *features) { f.bareCalls = true },
			Notice: "the endpoint rejects text with calls; it is left out of the history that is sent",
		},
		{
			Name:   "cache markers",
			Words:  []string{"cache_control"},
			Sent:   func(f *features, _ *model.Request) bool { return f.markers },
			Apply:  func(f *features) { f.markers = false },
			Notice: "the endpoint refuses prompt cache markers; they are left out",
		},
		{
			Name:   "signatures",
			Words:  []string{"thought_signature", "thoughtsignature", "thought signature"},
			Sent:   func(f *features, r *model.Request) bool { return !f.signatures && hasCalls(r) },
			Apply:  func(f *features) { f.signatures = true },
			Notice: "the endpoint wants thought signatures with calls; a stand-in is sent",
		},
		{
			Name:   "tool names",
			Words:  []string{"function_response.name"},
			Sent:   func(f *features, r *model.Request) bool { return !f.toolNames && hasCalls(r) },
			Apply:  func(f *features) { f.toolNames = true },
			Notice: "the endpoint wants tool names with results; they are sent",
		},
		{
			Name:   "capped ids",
			Words:  []string{"maximum length 40", "at most 40 characters", "longer than 40"},
			Sent:   func(f *features, r *model.Request) bool { return !f.cappedIDs && hasCalls(r) },
			Apply:  func(f *features) { f.cappedIDs = true },
			Notice: "the endpoint takes call ids of 40 characters at most; longer ones are shortened",
		},
		{
			Name:   "short ids",
			Words:  []string{"with a length of 9", "length of 9"},
			Sent:   func(f *features, r *model.Request) bool { return !f.shortIDs && hasCalls(r) },
			Apply:  func(f *features) { f.shortIDs = true },
			Notice: "the endpoint wants short call ids; they are shortened",
		},
		endpoint.SimpleSchemas(form, "$ref", "$defs", "schema", "function_declarations", "tools[", "tools."),
		endpoint.WithoutImages(form, "image", "multimodal", "vision", "content type", "must be a string"),
	}
}

// learn changes the features so that the refusal does not occur again, and returns a notice for the person;
// false when there is nothing to try.
func (f *features) learn(r *model.Request, refusal endpoint.Fault) (string, bool) {
	said := strings.ToLower(refusal.Whole())
	if notice, ok := f.LearnPictures(r, refusal); ok {
		return notice, true
	}
	if f.effort && f.forcedEffort == "" {
		if notice, ok := f.LearnEfforts(r, said); ok {
			return notice, true
		}
	}
	if m := endpoint.TryRemedy(remedies(), f, &f.Form, r, refusal); m != nil {
		return fmt.Sprintf("%s: %s", r.Model, m.Notice), true
	}
	return "", false
}
