package anthropic

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/endpoint"
	"jcode/agent/model/provider"
	"jcode/internal/schema"
)

// features is how one model of one endpoint wants its requests. It begins with the model's
// generation and learns from refusals; what it learned holds as long as the client.
type features struct {
	traits
	maxTokens   int
	temperature bool
	topP        bool
	images      bool
	documents   bool     // PDFs
	display     bool     // ask for thinking that can be read
	noThinking  bool     // "thinking: disabled" may be said
	efforts     []string // the levels that the model knows, where a refusal named them
	cache       bool     // prompt cache markers
	cacheHour   bool     // the cache is kept for an hour
	eager       bool     // arguments stream as they are written
	search      bool     // the web
	simple      bool     // tool schemas without references and the like
	dropBlocks  bool     // thinking that belongs to another beginning is dropped by the server
	thoughts    bool     // thinking blocks go back
	betas       bool     // beta headers are sent

	tried map[string]bool
	// lost holds the thinking that was sent when the server found that some of it belongs to
	// another beginning: which of it is left out, the server does not say.
	lost map[string]bool
}

// leastOutput is the lowest output limit with which a request that is too long is tried again.
const leastOutput = 4096

func newFeatures(cfg provider.Config, id string) *features {
	q := cfg.Quirks
	f := &features{
		traits: traitsOf(id), temperature: !provider.Yes(q.NoTemperature), topP: !provider.Yes(q.NoTemperature), images: !provider.Yes(q.NoImages), documents: true,
		display: true, noThinking: true, cache: cfg.Cache != "off", cacheHour: cfg.Cache == "1h", eager: true, search: true, simple: provider.Yes(q.SimpleSchemas),
		thoughts: true, betas: true, tried: map[string]bool{},
	}
	f.maxTokens = f.maxOutput
	if info, ok := catalogue.Lookup(id, cfg.Models); ok {
		if info.MaxOutput > 0 {
			f.maxTokens = min(f.maxOutput, info.MaxOutput)
		}
		if info.Window > 0 && info.Window <= 200_000 { // the output limit counts against the window
			f.maxTokens = min(f.maxTokens, 32_000, info.Window/4)
		}
	}
	return f
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
	c.tried, c.lost = maps.Clone(f.tried), maps.Clone(f.lost)
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

// bindingRemedy has the server leave out thinking that belongs to another beginning.
const bindingRemedy = "binding"

// thinkingOf returns the opaque parts of a request.
func thinkingOf(r *model.Request) map[string]bool {
	all := map[string]bool{}
	for i := range r.Messages {
		for _, o := range r.Messages[i].Opaque {
			all[o.Raw] = true
		}
	}
	return all
}

// remedies in the order in which they are tried; each at most once per model.
func remedies() []remedy {
	always := func(*features, *model.Request) bool { return true }
	hasImages := func(_ *features, r *model.Request) bool {
		return slices.ContainsFunc(r.Messages, func(m model.Message) bool { return len(m.Images) > 0 })
	}
	hasThoughts := func(f *features, r *model.Request) bool {
		return f.thoughts && slices.ContainsFunc(r.Messages, func(m model.Message) bool { return len(m.Opaque) > 0 })
	}
	hasInline := func(f *features, r *model.Request) bool {
		return f.inlineTools && slices.ContainsFunc(r.Messages, func(m model.Message) bool { return len(m.ToolsAdded)+len(m.ToolsRemoved) > 0 })
	}
	return []remedy{
		{
			"web search",
			[]string{"web_search", "web search", "server tool"},
			func(f *features, r *model.Request) bool { return f.search && endpoint.WantsSearch(r) },
			func(f *features) { f.search = false },
			"the endpoint does not search the web: the model goes on without",
		},
		{
			bindingRemedy,
			[]string{"bound to a different conversation"},
			func(f *features, r *model.Request) bool { return !f.dropBlocks && hasThoughts(f, r) },
			func(f *features) { f.dropBlocks = true },
			"the conversation before some of the model's thinking has changed; the provider leaves that thinking out from now on",
		},
		{
			"thinking blocks",
			[]string{"invalid `signature`", "signature in `thinking`", "`thinking` blocks in the latest", "block_binding", "thinking blocks cannot be modified", "cannot be modified"},
			hasThoughts,
			func(f *features) { f.thoughts, f.dropBlocks = false, false },
			"the endpoint refuses the model's earlier thinking; it is left out",
		},
		{
			"inline tools",
			[]string{"tool_addition", "tool_removal", "inline-tools", "role: \"system\"", "mid-conversation", "messages: unexpected role", "unexpected role \"system\""},
			hasInline,
			func(f *features) { f.inlineTools = false },
			"the endpoint takes no tools within the conversation; new ones go to the end of the list",
		},
		{
			"display",
			[]string{"display"},
			func(f *features, _ *model.Request) bool { return f.display && f.thinking == thinksAdaptive },
			func(f *features) { f.display = false },
			"the endpoint does not know how thinking is shown; it may stay hidden",
		},
		{
			"adaptive",
			[]string{"adaptive"},
			func(f *features, _ *model.Request) bool { return f.thinking == thinksAdaptive },
			func(f *features) { f.thinking = thinksBudget },
			"the model thinks with a budget; one is set",
		},
		{
			"budget",
			[]string{"budget_tokens", "thinking.type", "thinking.enabled"},
			func(f *features, _ *model.Request) bool { return f.thinking == thinksBudget },
			func(f *features) {
				f.thinking = thinksAdaptive
				if f.tried["adaptive"] {
					f.thinking = thinksNot
				}
			},
			"the model takes no budget for thinking; it is left out",
		},
		{
			"no thinking",
			[]string{"disabled"},
			func(f *features, _ *model.Request) bool { return f.noThinking },
			func(f *features) { f.noThinking = false },
			"the model always thinks",
		},
		{
			"thinking",
			[]string{"thinking"},
			func(f *features, _ *model.Request) bool { return f.thinking != thinksNot },
			func(f *features) { f.thinking, f.noThinking = thinksNot, false },
			"the model takes no word on thinking; it is left out",
		},
		{
			"effort",
			[]string{"effort", "output_config"},
			func(f *features, r *model.Request) bool { return f.effort && r.ReasoningEffort != "" },
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
			"cache hour",
			[]string{"ttl"},
			func(f *features, _ *model.Request) bool { return f.cacheHour },
			func(f *features) { f.cacheHour = false },
			"the endpoint keeps its prompt cache for five minutes only",
		},
		{
			"cache",
			[]string{"cache_control"},
			func(f *features, _ *model.Request) bool { return f.cache },
			func(f *features) { f.cache = false },
			"the endpoint refuses prompt cache markers; they are left out",
		},
		{
			"eager",
			[]string{"eager_input_streaming"},
			func(f *features, r *model.Request) bool { return f.eager && len(r.Tools) > 0 },
			func(f *features) { f.eager = false },
			"the endpoint does not stream arguments as they are written",
		},
		{
			"betas",
			[]string{"anthropic-beta", "beta header"},
			func(f *features, _ *model.Request) bool { return f.betas },
			func(f *features) { f.betas, f.inlineTools, f.dropBlocks = false, false, false },
			"the endpoint refuses beta headers; they are left out",
		},
		{
			"simple schemas",
			[]string{"input_schema", "$ref", "$defs", "schema"},
			func(f *features, r *model.Request) bool {
				return !f.simple && slices.ContainsFunc(r.Tools, func(t model.Tool) bool { return !schema.IsSimple(t.Parameters) })
			},
			func(f *features) { f.simple = true },
			"the endpoint refuses a tool's schema; references are written out, formats and the like left out from now on",
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
			func(f *features, r *model.Request) bool { return f.images && hasImages(f, r) && always(f, r) },
			func(f *features) { f.images = false },
			"the model takes no images; they are replaced by a note",
		},
	}
}

// learn changes the features so that the refusal does not come again, and returns the words
// for the person; false when there is nothing to try.
func (f *features) learn(r *model.Request, refusal endpoint.Fault) (string, bool) {
	said := strings.ToLower(refusal.Whole())
	if notice, ok := f.learnOutput(r, refusal, said); ok {
		return notice, true
	}
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
		if m.name == bindingRemedy {
			f.lost = thinkingOf(r)
		}
		return fmt.Sprintf("%s: %s", r.Model, m.notice), true
	}
	return "", false
}

// learnOutput lowers the output limit where a refusal says that it is too high.
func (f *features) learnOutput(r *model.Request, refusal endpoint.Fault, said string) (string, bool) {
	if room := roomForOutput(refusal); room >= leastOutput && room < f.maxTokens {
		f.maxTokens = room
		return fmt.Sprintf("%s: the answer may have %d tokens, so that the conversation fits", r.Model, room), true
	}
	_, rest, ok := strings.Cut(said, "max_tokens: ")
	if !ok {
		return "", false
	}
	_, rest, ok = strings.Cut(rest, " > ")
	if n := leadingNumber(rest); ok && n > 0 && n < f.maxTokens {
		f.maxTokens = n
		return fmt.Sprintf("%s: the model writes %d tokens at most; that limit is set", r.Model, n), true
	}
	return "", false
}

// roomForOutput is what "exceed context limit: A + B > C" leaves for the answer: C - A.
func roomForOutput(f endpoint.Fault) int {
	_, sum, ok := strings.Cut(strings.ReplaceAll(f.Whole(), ",", ""), "context limit: ")
	if !ok {
		return 0
	}
	input := leadingNumber(sum)
	_, rest, ok := strings.Cut(sum, " > ")
	if !ok || input == 0 {
		return 0
	}
	return leadingNumber(rest) - input - 64
}

func leadingNumber(s string) int {
	n, err := strconv.Atoi(s[:len(s)-len(strings.TrimLeft(s, "0123456789"))])
	if err != nil {
		return 0
	}
	return n
}
