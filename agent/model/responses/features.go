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
	"jcode/internal/schema"
)

// features is the form of request that one model of one endpoint accepts. It starts from what is known of the
// model and learns from refusals; what it learned lasts as long as the client.
type features struct {
	reasons     bool     // it thinks: reasoning may be asked for
	summary     bool     // summaries of its reasoning are asked for
	effort      bool     // an effort may be set
	efforts     []string // the levels that the model knows, if a refusal named them
	encrypted   bool     // its reasoning is requested in encrypted form, and sent back
	temperature bool
	topP        bool
	images      bool
	documents   bool // PDFs
	cacheKey    bool
	parallel    bool
	maxOutput   bool
	custom      bool // tools that take plain text
	grammar     bool // grammars of it
	search      bool // the web
	sources     bool // of a search, listed in its call
	phase       bool
	simple      bool // tool schemas without references and the like
	store       bool // "store: false" may be sent

	tried map[string]bool
}

func newFeatures(cfg provider.Config, id string) *features {
	q := cfg.Quirks
	info, known := catalogue.Lookup(id, cfg.Models)
	reasons := info.Reasons || !known
	return &features{
		reasons: reasons, summary: true, effort: true, encrypted: reasons, temperature: !provider.Yes(q.NoTemperature), topP: !provider.Yes(q.NoTemperature),
		images: !provider.Yes(q.NoImages), documents: true, cacheKey: true, parallel: true, maxOutput: true, custom: true, grammar: true, search: true, sources: true, phase: true, simple: provider.Yes(q.SimpleSchemas), store: true,
		tried: map[string]bool{},
	}
}

// takes reports whether an image of a media type is sent to the model.
func (f *features) takes(mime string) bool {
	return f.images && (f.documents || mime != model.MIMEPDF)
}

func hasPDF(r *model.Request) bool {
	return slices.ContainsFunc(r.Messages, func(m model.Message) bool {
		return slices.ContainsFunc(m.Images, func(i model.Image) bool { return i.MIME == model.MIMEPDF })
	})
}

func (f *features) clone() *features {
	c := *f
	c.tried = maps.Clone(f.tried)
	return &c
}

// remedy is one way to respond to a refusal.
type remedy = endpoint.Remedy[features]

// remedies returns the remedies in the order in which they are tried, each at most once per model.
func remedies() []remedy {
	on := func(flag func(*features) bool) func(*features, *model.Request) bool {
		return func(f *features, _ *model.Request) bool { return flag(f) }
	}
	hasOpaque := func(f *features, r *model.Request) bool {
		return f.encrypted && slices.ContainsFunc(r.Messages, func(m model.Message) bool { return len(m.Opaque) > 0 })
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
			Name:   "earlier reasoning",
			Words:  []string{"encrypted content", "encrypted_content", "of type 'reasoning'", "reasoning item"},
			Sent:   hasOpaque,
			Apply:  func(f *features) { f.encrypted = false },
			Notice: "the endpoint refuses the model's earlier reasoning; it is left out",
		},
		{
			Name:   "encrypted",
			Words:  []string{"reasoning.encrypted_content", "encrypted content", "include"},
			Sent:   on(func(f *features) bool { return f.encrypted }),
			Apply:  func(f *features) { f.encrypted = false },
			Notice: "the endpoint gives no reasoning to send back",
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
			Words:  []string{"'reasoning'", "\"reasoning\"", "reasoning is not supported", "unsupported parameter: reasoning", "parameter: 'reasoning"},
			Sent:   on(func(f *features) bool { return f.reasons }),
			Apply:  func(f *features) { f.reasons, f.encrypted = false, false },
			Notice: "the model does not reason; nothing is asked about it",
		},
		{
			Name:   "temperature",
			Words:  []string{"temperature"},
			Sent:   func(f *features, r *model.Request) bool { return f.temperature && r.Temperature != nil },
			Apply:  func(f *features) { f.temperature = false },
			Notice: "the model refuses a temperature; it is left out",
		},
		{
			Name:   "top_p",
			Words:  []string{"top_p"},
			Sent:   func(f *features, r *model.Request) bool { return f.topP && r.TopP != nil },
			Apply:  func(f *features) { f.topP = false },
			Notice: "the model refuses top_p; it is left out",
		},
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
			Notice: "the endpoint takes no word on parallel calls; it is left out",
		},
		{
			Name:   "output limit",
			Words:  []string{"max_output_tokens"},
			Sent:   func(f *features, r *model.Request) bool { return f.maxOutput && r.MaxOutputTokens > 0 },
			Apply:  func(f *features) { f.maxOutput = false },
			Notice: "the endpoint takes no output limit; it is left out",
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
			Notice: "the endpoint does not search the web: the model goes on without",
		},
		{
			Name:  "grammars",
			Words: []string{"grammar", "lark", "].format"},
			Sent: func(f *features, r *model.Request) bool {
				return f.custom && f.grammar && slices.ContainsFunc(r.Tools, func(t model.Tool) bool { return t.Freeform != "" && t.Grammar != "" })
			},
			Apply:  func(f *features) { f.grammar = false },
			Notice: "the endpoint takes no grammars of tools with plain text; they are left out",
		},
		{
			Name:  "custom tools",
			Words: []string{"custom"},
			Sent: func(f *features, r *model.Request) bool {
				return f.custom && slices.ContainsFunc(r.Tools, func(t model.Tool) bool { return t.Freeform != "" })
			},
			Apply:  func(f *features) { f.custom = false },
			Notice: "the endpoint takes no tools with plain text; they are sent as functions",
		},
		{
			Name:   "phase",
			Words:  []string{"phase"},
			Sent:   on(func(f *features) bool { return f.phase }),
			Apply:  func(f *features) { f.phase = false },
			Notice: "the endpoint knows no phases of messages; they are left out",
		},
		{
			Name:  "simple schemas",
			Words: []string{"$ref", "$defs", "schema"},
			Sent: func(f *features, r *model.Request) bool {
				return !f.simple && slices.ContainsFunc(r.Tools, func(t model.Tool) bool { return !schema.IsSimple(t.Parameters) })
			},
			Apply:  func(f *features) { f.simple = true },
			Notice: "the endpoint refuses a tool's schema; references are written out, formats and the like left out from now on",
		},
		{
			Name:   "store",
			Words:  []string{"'store'", "\"store\"", "parameter: store"},
			Sent:   on(func(f *features) bool { return f.store }),
			Apply:  func(f *features) { f.store = false },
			Notice: "the endpoint takes no word on keeping answers; it is left out",
		},
		{
			Name:   "documents",
			Words:  []string{"document", "pdf", "input_file", "file_data"},
			Sent:   func(f *features, r *model.Request) bool { return f.documents && f.images && hasPDF(r) },
			Apply:  func(f *features) { f.documents = false },
			Notice: "the model takes no PDFs; their text is sent",
		},
		{
			Name:  "images",
			Words: []string{"image", "multimodal", "vision"},
			Sent: func(f *features, r *model.Request) bool {
				return f.images && slices.ContainsFunc(r.Messages, func(m model.Message) bool { return len(m.Images) > 0 })
			},
			Apply:  func(f *features) { f.images = false },
			Notice: "the model takes no images; they are replaced by a note",
		},
	}
}

// learn changes the features so that the refusal does not occur again, and returns a notice for the person;
// false when there is nothing to try.
func (f *features) learn(r *model.Request, refusal endpoint.Fault) (string, bool) {
	said := strings.ToLower(refusal.Whole())
	if known := endpoint.EffortsIn(said); len(f.efforts) == 0 && r.ReasoningEffort != "" && len(known) > 0 && !slices.Contains(known, r.ReasoningEffort) {
		f.efforts = known
		return fmt.Sprintf("%s: the model knows no reasoning effort %q; %q is sent", r.Model, r.ReasoningEffort, endpoint.NearestEffort(known, r.ReasoningEffort)), true
	}
	if m := endpoint.TryRemedy(remedies(), f, f.tried, r, said); m != nil {
		return fmt.Sprintf("%s: %s", r.Model, m.Notice), true
	}
	return "", false
}
