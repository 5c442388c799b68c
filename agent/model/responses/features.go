package responses

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

// features is how one model of one endpoint wants its requests. It begins with what is known
// of the model and learns from refusals; what it learned holds as long as the client.
type features struct {
	reasons     bool     // it thinks: reasoning may be asked for
	summary     bool     // summaries of its reasoning are asked for
	effort      bool     // an effort may be said
	efforts     []string // the levels that the model knows, where a refusal named them
	encrypted   bool     // its reasoning is asked for in encrypted form, and goes back
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
	store       bool // "store: false" may be said

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

// takes reports whether an image of a media type goes to the model.
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

// remedies in the order in which they are tried; each at most once per model.
func remedies() []remedy {
	on := func(flag func(*features) bool) func(*features, *model.Request) bool {
		return func(f *features, _ *model.Request) bool { return flag(f) }
	}
	hasOpaque := func(f *features, r *model.Request) bool {
		return f.encrypted && slices.ContainsFunc(r.Messages, func(m model.Message) bool { return len(m.Opaque) > 0 })
	}
	return []remedy{
		{
			"summary",
			[]string{"reasoning.summary", "reasoning summaries", "must be verified"},
			on(func(f *features) bool { return f.reasons && f.summary }),
			func(f *features) { f.summary = false },
			"the account gets no summaries of the model's reasoning; they are not asked for",
		},
		{
			"earlier reasoning",
			[]string{"encrypted content", "encrypted_content", "of type 'reasoning'", "reasoning item"},
			hasOpaque,
			func(f *features) { f.encrypted = false },
			"the endpoint refuses the model's earlier reasoning; it is left out",
		},
		{
			"encrypted",
			[]string{"reasoning.encrypted_content", "encrypted content", "include"},
			on(func(f *features) bool { return f.encrypted }),
			func(f *features) { f.encrypted = false },
			"the endpoint gives no reasoning to send back",
		},
		{
			"effort",
			[]string{"reasoning.effort", "reasoning effort", "reasoningeffort", "effort level"},
			func(f *features, r *model.Request) bool { return f.effort && r.ReasoningEffort != "" },
			func(f *features) { f.effort = false },
			"the endpoint refuses the reasoning effort; it is left out",
		},
		{
			"reasoning",
			[]string{"'reasoning'", "\"reasoning\"", "reasoning is not supported", "unsupported parameter: reasoning", "parameter: 'reasoning"},
			on(func(f *features) bool { return f.reasons }),
			func(f *features) { f.reasons, f.encrypted = false, false },
			"the model does not reason; nothing is asked about it",
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
			"cache key",
			[]string{"prompt_cache_key"},
			on(func(f *features) bool { return f.cacheKey }),
			func(f *features) { f.cacheKey = false },
			"the endpoint knows no prompt cache key; it is left out",
		},
		{
			"parallel",
			[]string{"parallel_tool_calls"},
			on(func(f *features) bool { return f.parallel }),
			func(f *features) { f.parallel = false },
			"the endpoint takes no word on parallel calls; it is left out",
		},
		{
			"output limit",
			[]string{"max_output_tokens"},
			func(f *features, r *model.Request) bool { return f.maxOutput && r.MaxOutputTokens > 0 },
			func(f *features) { f.maxOutput = false },
			"the endpoint takes no output limit; it is left out",
		},
		{
			"sources",
			[]string{"action.sources", "'include'", "include["},
			func(f *features, r *model.Request) bool { return f.search && f.sources && endpoint.WantsSearch(r) },
			func(f *features) { f.sources = false },
			"the endpoint does not list the sources of a search; they are not shown",
		},
		{
			"web search",
			[]string{"web_search", "web search"},
			func(f *features, r *model.Request) bool { return f.search && endpoint.WantsSearch(r) },
			func(f *features) { f.search = false },
			"the endpoint does not search the web: the model goes on without",
		},
		{
			"grammars",
			[]string{"grammar", "lark", "].format"},
			func(f *features, r *model.Request) bool {
				return f.custom && f.grammar && slices.ContainsFunc(r.Tools, func(t model.Tool) bool { return t.Freeform != "" && t.Grammar != "" })
			},
			func(f *features) { f.grammar = false },
			"the endpoint takes no grammars of tools with plain text; they are left out",
		},
		{
			"custom tools",
			[]string{"custom"},
			func(f *features, r *model.Request) bool {
				return f.custom && slices.ContainsFunc(r.Tools, func(t model.Tool) bool { return t.Freeform != "" })
			},
			func(f *features) { f.custom = false },
			"the endpoint takes no tools with plain text; they are sent as functions",
		},
		{
			"phase",
			[]string{"phase"},
			on(func(f *features) bool { return f.phase }),
			func(f *features) { f.phase = false },
			"the endpoint knows no phases of messages; they are left out",
		},
		{
			"simple schemas",
			[]string{"$ref", "$defs", "schema"},
			func(f *features, r *model.Request) bool {
				return !f.simple && slices.ContainsFunc(r.Tools, func(t model.Tool) bool { return !schema.IsSimple(t.Parameters) })
			},
			func(f *features) { f.simple = true },
			"the endpoint refuses a tool's schema; references are written out, formats and the like left out from now on",
		},
		{
			"store",
			[]string{"'store'", "\"store\"", "parameter: store"},
			on(func(f *features) bool { return f.store }),
			func(f *features) { f.store = false },
			"the endpoint takes no word on keeping answers; it is left out",
		},
		{
			"documents",
			[]string{"document", "pdf", "input_file", "file_data"},
			func(f *features, r *model.Request) bool { return f.documents && f.images && hasPDF(r) },
			func(f *features) { f.documents = false },
			"the model takes no PDFs; their text is sent",
		},
		{
			"images",
			[]string{"image", "multimodal", "vision"},
			func(f *features, r *model.Request) bool {
				return f.images && slices.ContainsFunc(r.Messages, func(m model.Message) bool { return len(m.Images) > 0 })
			},
			func(f *features) { f.images = false },
			"the model takes no images; they are replaced by a note",
		},
	}
}

// learn changes the features so that the refusal does not come again, and returns the words
// for the person; false when there is nothing to try.
func (f *features) learn(r *model.Request, refusal endpoint.Fault) (string, bool) {
	said := strings.ToLower(refusal.Whole())
	if known := endpoint.EffortsIn(said); len(f.efforts) == 0 && r.ReasoningEffort != "" && len(known) > 0 && !slices.Contains(known, r.ReasoningEffort) {
		f.efforts = known
		return fmt.Sprintf("%s: the model knows no reasoning effort %q; %q is sent", r.Model, r.ReasoningEffort, endpoint.NearestEffort(known, r.ReasoningEffort)), true
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
