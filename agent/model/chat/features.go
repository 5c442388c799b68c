package chat

import (
	"fmt"
	"slices"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/endpoint"
	"jcode/agent/model/provider"
	"jcode/internal/schema"
)

// features is how one model of one endpoint wants its requests. It begins with the
// provider's quirks and learns from refusals; what it learned holds as long as the client.
type features struct {
	systemRole     string // "system", "developer", or "" for the first message of the person
	maxTokensField string
	streamOptions  bool
	strict         bool
	simple         bool // tool schemas without references and the like
	temperature    bool
	topP           bool
	effort         bool     // send reasoning_effort
	forcedEffort   string   // send this reasoning_effort with tools
	efforts        []string // the levels that the model knows, where a refusal named them
	reasoning      bool     // send reasoning_content back
	blankReasoning bool     // send a blank one with calls that have none
	images         bool
	markers        bool // prompt cache markers
	cappedIDs      bool // call ids of forty characters at most
	shortIDs       bool // call ids of nine letters and digits
	toolNames      bool // tool messages bear the tool's name
	signatures     bool // calls need a thought signature
	alternate      bool // turns must alternate
	bareCalls      bool // calls go without the text before them

	tried map[string]bool // what was changed once after a refusal
}

func newFeatures(cfg provider.Config, id string) *features {
	q := cfg.Quirks
	f := &features{
		systemRole:     "system",
		maxTokensField: "max_tokens",
		streamOptions:  !provider.Yes(q.NoStreamOptions),
		strict:         provider.Yes(q.Strict),
		simple:         provider.Yes(q.SimpleSchemas),
		temperature:    !provider.Yes(q.NoTemperature),
		topP:           !provider.Yes(q.NoTemperature),
		effort:         true,
		reasoning:      provider.Yes(q.ReasoningBack),
		blankReasoning: provider.Yes(q.ReasoningBack),
		images:         !provider.Yes(q.NoImages),
		cappedIDs:      provider.Yes(q.CappedCallIDs),
		shortIDs:       provider.Yes(q.ShortCallIDs),
		alternate:      provider.Yes(q.AlternateTurns),
		tried:          map[string]bool{},
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

// clone gives a copy that an own request may work with.
func (f *features) clone() *features {
	c := *f
	c.tried = make(map[string]bool, len(f.tried))
	for k := range f.tried {
		c.tried[k] = true
	}
	return &c
}

// remedy is one way to meet a refusal.
type remedy struct {
	name   string
	words  []string // the refusal must contain one of them
	sent   func(f *features, r *model.Request) bool
	apply  func(f *features)
	notice string
}

// remedies in the order in which they are tried; each at most once per model. A function
// and not a variable: it costs nothing at start.
func remedies() []remedy {
	hasImages := func(r *model.Request) bool {
		for i := range r.Messages {
			if len(r.Messages[i].Images) > 0 {
				return true
			}
		}
		return false
	}
	hasCalls := func(r *model.Request) bool {
		for i := range r.Messages {
			if len(r.Messages[i].Calls) > 0 {
				return true
			}
		}
		return false
	}
	hasReasoning := func(r *model.Request) bool {
		for i := range r.Messages {
			if r.Messages[i].Reasoning != "" {
				return true
			}
		}
		return false
	}
	hasSchemas := func(r *model.Request) bool {
		return slices.ContainsFunc(r.Tools, func(t model.Tool) bool { return !schema.IsSimple(t.Parameters) })
	}
	return []remedy{
		{
			"stream_options",
			[]string{"stream_options", "include_usage"},
			func(f *features, _ *model.Request) bool { return f.streamOptions },
			func(f *features) { f.streamOptions = false },
			"token counts are estimated: the endpoint refuses stream_options",
		},
		{
			"strict",
			[]string{"strict"},
			func(f *features, r *model.Request) bool { return f.strict && len(r.Tools) > 0 },
			func(f *features) { f.strict = false },
			"the endpoint refuses strict tool schemas; they are sent without",
		},
		{
			"reasoning needed",
			[]string{"reasoning_content"},
			func(f *features, r *model.Request) bool { return !f.reasoning && (hasReasoning(r) || hasCalls(r)) },
			func(f *features) { f.reasoning, f.blankReasoning = true, true },
			"the endpoint wants its reasoning back; it is sent along from now on",
		},
		{
			"reasoning with each call",
			[]string{"reasoning_content is missing", "missing reasoning_content", "missing `reasoning_content`", "must be passed back"},
			func(f *features, r *model.Request) bool { return f.reasoning && !f.blankReasoning && hasCalls(r) },
			func(f *features) { f.blankReasoning = true },
			"the endpoint wants reasoning with each call; a blank one is sent where there is none",
		},
		{
			"reasoning refused",
			[]string{"reasoning_content"},
			func(f *features, r *model.Request) bool { return f.reasoning && hasReasoning(r) },
			func(f *features) { f.reasoning = false },
			"the endpoint refuses to get reasoning back; it is left out from now on",
		},
		{
			"effort none",
			[]string{"responses api", "/v1/responses"},
			func(f *features, r *model.Request) bool { return f.forcedEffort == "" && len(r.Tools) > 0 },
			func(f *features) { f.forcedEffort = "none" },
			"the model takes tools here only with reasoning effort \"none\"; it is set",
		},
		{
			"effort",
			[]string{"reasoning_effort", "reasoning effort", "reasoningeffort", "effort level"},
			func(f *features, r *model.Request) bool {
				return f.effort && (r.ReasoningEffort != "" || f.forcedEffort != "")
			},
			func(f *features) { f.effort = false },
			"the endpoint refuses the reasoning effort; it is left out",
		},
		{
			"temperature",
			[]string{"temperature"},
			func(f *features, r *model.Request) bool { return f.temperature && r.Temperature != nil },
			func(f *features) { f.temperature = false },
			"the model refuses a temperature; it is left out",
		},
		{
			"top_p",
			[]string{"top_p"},
			func(f *features, r *model.Request) bool { return f.topP && r.TopP != nil },
			func(f *features) { f.topP = false },
			"the model refuses top_p; it is left out",
		},
		{
			"max tokens",
			[]string{"max_tokens", "max_completion_tokens"},
			func(_ *features, r *model.Request) bool { return r.MaxOutputTokens > 0 },
			func(f *features) {
				if f.maxTokensField == "max_tokens" {
					f.maxTokensField = "max_completion_tokens"
				} else {
					f.maxTokensField = "max_tokens"
				}
			},
			"the endpoint calls the output limit otherwise; it is renamed",
		},
		{
			"developer",
			[]string{"developer"},
			func(f *features, _ *model.Request) bool { return f.systemRole == "developer" },
			func(f *features) { f.systemRole = "system" },
			"the endpoint does not know the role developer; the system role is used",
		},
		{
			"system role",
			[]string{"system role", "role 'system'", "system instruction is not", "does not support 'system'", "developer instruction is not"},
			func(f *features, r *model.Request) bool { return f.systemRole == "system" && r.System != "" },
			func(f *features) { f.systemRole = "" },
			"the model knows no system role; the first message says what it would",
		},
		{
			"alternate",
			[]string{"roles must alternate", "after role", "last role", "message_order", "message order"},
			func(f *features, _ *model.Request) bool { return !f.alternate },
			func(f *features) { f.alternate = true },
			"the endpoint wants turns that alternate; messages are joined, and short ones put between",
		},
		{
			"bare calls",
			[]string{"content or tool_calls, but not both"},
			func(f *features, r *model.Request) bool { return !f.bareCalls && hasCalls(r) },
			func(f *features) { f.bareCalls = true },
			"the endpoint takes no text with calls; it is left out of the history that is sent",
		},
		{
			"cache markers",
			[]string{"cache_control"},
			func(f *features, _ *model.Request) bool { return f.markers },
			func(f *features) { f.markers = false },
			"the endpoint refuses prompt cache markers; they are left out",
		},
		{
			"signatures",
			[]string{"thought_signature", "thoughtsignature", "thought signature"},
			func(f *features, r *model.Request) bool { return !f.signatures && hasCalls(r) },
			func(f *features) { f.signatures = true },
			"the endpoint wants thought signatures with calls; a stand-in is sent",
		},
		{
			"tool names",
			[]string{"function_response.name"},
			func(f *features, r *model.Request) bool { return !f.toolNames && hasCalls(r) },
			func(f *features) { f.toolNames = true },
			"the endpoint wants tool names with results; they are sent",
		},
		{
			"capped ids",
			[]string{"maximum length 40", "at most 40 characters", "longer than 40"},
			func(f *features, r *model.Request) bool { return !f.cappedIDs && hasCalls(r) },
			func(f *features) { f.cappedIDs = true },
			"the endpoint takes call ids of 40 characters at most; longer ones are shortened",
		},
		{
			"short ids",
			[]string{"with a length of 9", "length of 9"},
			func(f *features, r *model.Request) bool { return !f.shortIDs && hasCalls(r) },
			func(f *features) { f.shortIDs = true },
			"the endpoint wants short call ids; they are shortened",
		},
		{
			"simple schemas",
			[]string{"$ref", "$defs", "schema", "function_declarations", "tools[", "tools."},
			func(f *features, r *model.Request) bool { return !f.simple && hasSchemas(r) },
			func(f *features) { f.simple = true },
			"the endpoint refuses a tool's schema; references are written out, formats and the like left out from now on",
		},
		{
			"images",
			[]string{"image", "multimodal", "vision", "content type", "must be a string"},
			func(f *features, r *model.Request) bool { return f.images && hasImages(r) },
			func(f *features) { f.images = false },
			"the model takes no images; they are replaced by a note",
		},
	}
}

// learn changes the features so that the refusal does not come again, and gives the words
// for the person; false when there is nothing to try.
func (f *features) learn(r *model.Request, refusal endpoint.Fault) (string, bool) {
	said := strings.ToLower(refusal.Whole())
	if notice, ok := f.learnEfforts(r, said); ok {
		return notice, true
	}
	for _, m := range remedies() {
		if f.tried[m.name] || !m.sent(f, r) || !endpoint.ContainsAny(said, m.words) {
			continue
		}
		f.tried[m.name] = true
		m.apply(f)
		return fmt.Sprintf("%s: %s", r.Model, m.notice), true
	}
	return "", false
}
