package responses

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/endpoint"
	"jcode/agent/model/provider"
)

// features is the form of request that one model of one endpoint accepts. It starts from what is known of the
// model and learns from refusals; what it learned lasts as long as the client.
type features struct {
	endpoint.Form
	reasons   bool // it thinks: reasoning may be asked for
	summary   bool // summaries of its reasoning are asked for
	effort    bool // an effort may be set
	encrypted bool // its reasoning is requested in encrypted form, and sent back
	cacheKey  bool
	parallel  bool
	maxOutput bool
	custom    bool // tools that take plain text
	grammar   bool // grammars of it
	search    bool // the web
	sources   bool // of a search, listed in its call
	phase     bool
	store     bool // "store: false" may be sent

	// lost holds the reasoning that the endpoint refused.
	lost map[string]bool
}

// earlierReasoning leaves out what was refused, and goes on with what follows.
const earlierReasoning = "earlier reasoning"

func newFeatures(cfg provider.Config, id string) *features {
	info, known := catalogue.Lookup(id, cfg.Models)
	reasons := info.Reasons || !known
	return &features{
		Form: endpoint.NewForm(cfg.Quirks), reasons: reasons, summary: true, effort: true, encrypted: reasons,
		cacheKey: true, parallel: true, maxOutput: true, custom: true, grammar: true, search: true, sources: true, phase: true, store: true,
	}
}

func (f *features) clone() *features {
	c := *f
	c.Form, c.lost = f.Form.Copy(), maps.Clone(f.lost)
	return &c
}

// remedy is one way to respond to a refusal.
type remedy = endpoint.Remedy[features]

// remedies returns the remedies in the order in which they are tried, each at most once per model.
func remedies() []remedy {
	form := func(f *features) *endpoint.Form { return &f.Form }
	on := func(flag func(*features) bool) func(*features, *model.Request) bool {
		return func(f *features, _ *model.Request) bool { return flag(f) }
	}
	hasOpaque := func(f *features, r *model.Request) bool {
		return f.encrypted && slices.ContainsFunc(r.Messages, func(m model.Message) bool {
			return slices.ContainsFunc(m.Opaque, func(o model.Opaque) bool { return o.Kind == opaqueReasoning && !f.lost[o.Raw] })
		})
	}
	return []remedy{
		{
			Name:   "summary",
			Words:  []string{"reasoning.summary", "reasoning summaries", "must be verified"},
			Sent:   on(func(f *features) bool { return f.reasons && f.summary }),
			Apply:  func(f *features) { f.summary = false },
			Notice: "the account gets no summaries of the model's reasoning; they are not asked for",
		},
		{
			Name:   earlierReasoning,
			Words:  []string{"encrypted content", "encrypted_content", "of type 'reasoning'", "reasoning item"},
			Sent:   hasOpaque,
			Apply:  func(*features) {}, // learn keeps which it was
			Notice: "the endpoint refuses the model's earlier reasoning; it is left out",
		},
		{
			Name:   "reasoning sent back",
			Words:  []string{"encrypted content", "encrypted_content", "of type 'reasoning'", "reasoning item"},
			Sent:   hasOpaque,
			Apply:  func(f *features) { f.encrypted = false },
			Notice: "the endpoint refuses the model's earlier reasoning again; none is sent back from now on",
		},
		{
			Name:   "encrypted",
			Fields: []string{"include", "include[0]"},
			Words:  []string{"reasoning.encrypted_content", "encrypted content is not supported", "'include'", "parameter: include"},
			Sent:   on(func(f *features) bool { return f.encrypted }),
			Apply:  func(f *features) { f.encrypted = false },
			Notice: "the endpoint returns no reasoning to send back",
		},
		{
			Name:   "effort",
			Words:  []string{"reasoning.effort", "reasoning effort", "reasoningeffort", "effort level"},
			Sent:   func(f *features, r *model.Request) bool { return f.effort && r.ReasoningEffort != "" },
			Apply:  func(f *features) { f.effort = false },
			Notice: "the endpoint refuses the reasoning effort; it is left out",
		},
		{
			Name:   "reasoning",
			Fields: []string{"reasoning"},
			Words: []string{
				"'reasoning' is not", "\"reasoning\" is not", "`reasoning` is not", "reasoning is not supported", "parameter: 'reasoning'", "parameter: reasoning", "supplied: reasoning", "not support reasoning",
				"reasoning: extra inputs",
			},
			Sent:   on(func(f *features) bool { return f.reasons }),
			Apply:  func(f *features) { f.reasons, f.encrypted = false, false },
			Notice: "the model does not reason; nothing is asked about it",
		},
		endpoint.WithoutAnswerSchema(form, "text.format", "json_schema", "'text'", "structured output"),
		endpoint.WithoutTemperature(form),
		endpoint.WithoutTopP(form),
		{
			Name:   "cache key",
			Words:  []string{"prompt_cache_key"},
			Sent:   on(func(f *features) bool { return f.cacheKey }),
			Apply:  func(f *features) { f.cacheKey = false },
			Notice: "the endpoint knows no prompt cache key; it is left out",
		},
		{
			Name:   "parallel",
			Words:  []string{"parallel_tool_calls"},
			Sent:   on(func(f *features) bool { return f.parallel }),
			Apply:  func(f *features) { f.parallel = false },
			Notice: "the endpoint rejects the setting for parallel calls; it is left out",
		},
		{
			Name:   "output limit",
			Words:  []string{"max_output_tokens"},
			Sent:   func(f *features, r *model.Request) bool { return f.maxOutput && r.MaxOutputTokens > 0 },
			Apply:  func(f *features) { f.maxOutput = false },
			Notice: "the endpoint does not support an output limit; it is left out",
		},
		{
			Name:   "sources",
			Words:  []string{"action.sources", "'include'", "include["},
			Sent:   func(f *features, r *model.Request) bool { return f.search && f.sources && endpoint.WantsSearch(r) },
			Apply:  func(f *features) { f.sources = false },
			Notice: "the endpoint does not list the sources of a search; they are not shown",
		},
		{
			Name:   "web search",
			Words:  []string{"web_search", "web search"},
			Sent:   func(f *features, r *model.Request) bool { return f.search && endpoint.WantsSearch(r) },
			Apply:  func(f *features) { f.search = false },
			Notice: "the endpoint does not search the web: the model continues without",
		},
		{
			Name:  "grammars",
			Words: []string{"grammar", "lark", "].format"},
			Sent: func(f *features, r *model.Request) bool {
				return f.custom && f.grammar && slices.ContainsFunc(r.Tools, func(t model.Tool) bool { return t.Freeform != "" && t.Grammar != "" })
			},
			Apply:  func(f *features) { f.grammar = false },
			Notice: "the endpoint does not support grammars of plain-text tools; they are left out",
		},
		{
			Name:  "custom tools",
			Words: []string{"custom"},
			Sent: func(f *features, r *model.Request) bool {
				return f.custom && slices.ContainsFunc(r.Tools, func(t model.Tool) bool { return t.Freeform != "" })
			},
			Apply:  func(f *features) { f.custom = false },
			Notice: "the endpoint does not support plain-text tools; they are sent as functions",
		},
		{
			Name:   "phase",
			Words:  []string{"phase"},
			Sent:   on(func(f *features) bool { return f.phase }),
			Apply:  func(f *features) { f.phase = false },
			Notice: "the endpoint knows no phases of messages; they are left out",
		},
		endpoint.SimpleSchemas(form, "$ref", "$defs", "schema"),
		{
			Name:   "store",
			Words:  []string{"'store'", "\"store\"", "parameter: store"},
			Sent:   on(func(f *features) bool { return f.store }),
			Apply:  func(f *features) { f.store = false },
			Notice: "the endpoint rejects the setting for keeping answers; it is left out",
		},
		endpoint.WithoutDocuments(form),
		endpoint.WithoutImages(form, "image", "multimodal", "vision"),
	}
}

// reasoningOf returns the reasoning that a request sends back.
func reasoningOf(r *model.Request) map[string]bool {
	all := map[string]bool{}
	for i := range r.Messages {
		for _, o := range r.Messages[i].Opaque {
			if o.Kind == opaqueReasoning {
				all[o.Raw] = true
			}
		}
	}
	return all
}

// learn changes the features so that the refusal does not occur again, and returns a notice for the person;
// false when there is nothing to try.
func (f *features) learn(r *model.Request, refusal endpoint.Fault) (string, bool) {
	said := strings.ToLower(refusal.Whole())
	if notice, ok := f.LearnPictures(r, refusal); ok {
		return notice, true
	}
	if notice, ok := f.LearnEfforts(r, said); ok {
		return notice, true
	}
	if m := endpoint.TryRemedy(remedies(), f, &f.Form, r, refusal); m != nil {
		if m.Name == earlierReasoning {
			f.lost = reasoningOf(r)
		}
		return fmt.Sprintf("%s: %s", r.Model, m.Notice), true
	}
	return "", false
}
