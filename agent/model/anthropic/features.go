package anthropic

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

// features is the form of request that one model of one endpoint accepts. It starts from the model's
// generation and learns from refusals; what it learned lasts as long as the client.
type features struct {
	endpoint.Form
	traits
	maxTokens  int
	display    bool // ask for thinking that can be read
	cache      bool // prompt cache markers
	cacheHour  bool // the cache is kept for an hour
	eager      bool // arguments stream as they are written
	search     bool // the web
	dropBlocks bool // the server drops thinking that belongs to a different beginning
	thoughts   bool // thinking blocks are sent back
	betas      bool // beta headers are sent

	// lost holds the thinking that was sent when the server found that some of it belongs to a different
	// beginning. The server does not say which of it is dropped.
	lost map[string]bool
}

// leastOutput is the lowest output limit with which a request that is too long is retried.
const leastOutput = 4096

func newFeatures(cfg provider.Config, id string) *features {
	f := &features{
		Form: endpoint.NewForm(cfg.Quirks), traits: traitsOf(id),
		display: true, cache: cfg.Cache != "off", cacheHour: cfg.Cache == "1h", eager: true, search: true,
		thoughts: true, betas: true,
	}
	f.Answers = f.Answers && f.answers && cfg.Cloud == ""
	if cfg.Cloud != "" { // what only the maker's own API has
		f.eager, f.search, f.inlineTools = false, false, false
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

func (f *features) clone() *features {
	c := *f
	c.Form, c.lost = f.Form.Copy(), maps.Clone(f.lost)
	return &c
}

// remedy is one way to respond to a refusal.
type remedy = endpoint.Remedy[features]

// bindingRemedy has the server drop thinking that belongs to a different beginning.
const bindingRemedy = "binding"

const bindingNotice = "the conversation before some of the model's thinking has changed; the provider leaves that thinking out from now on"

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

// remedies returns the remedies in the order in which they are tried, each at most once per model.
func remedies() []remedy {
	form := func(f *features) *endpoint.Form { return &f.Form }
	hasThoughts := func(f *features, r *model.Request) bool {
		return f.thoughts && slices.ContainsFunc(r.Messages, func(m model.Message) bool { return len(m.Opaque) > 0 })
	}
	hasInline := func(f *features, r *model.Request) bool {
		return f.inlineTools && slices.ContainsFunc(r.Messages, func(m model.Message) bool { return len(m.ToolsAdded)+len(m.ToolsRemoved) > 0 })
	}
	return []remedy{
		{
			Name:   "web search",
			Words:  []string{"web_search", "web search", "server tool"},
			Sent:   func(f *features, r *model.Request) bool { return f.search && endpoint.WantsSearch(r) },
			Apply:  func(f *features) { f.search = false },
			Notice: "the endpoint does not search the web: the model continues without",
		},
		{
			Name:   bindingRemedy,
			Words:  []string{"bound to a different conversation"},
			Sent:   func(f *features, r *model.Request) bool { return !f.dropBlocks && hasThoughts(f, r) },
			Apply:  func(f *features) { f.dropBlocks = true },
			Notice: bindingNotice,
		},
		{
			Name:   "thinking blocks",
			Words:  []string{"invalid `signature`", "signature in `thinking`", "`thinking` blocks in the latest", "block_binding", "thinking blocks cannot be modified", "cannot be modified"},
			Sent:   hasThoughts,
			Apply:  func(f *features) { f.thoughts, f.dropBlocks = false, false },
			Notice: "the endpoint refuses the model's earlier thinking; it is left out",
		},
		{
			Name:   "inline tools",
			Words:  []string{"tool_addition", "tool_removal", "inline-tools", "role: \"system\"", "mid-conversation", "messages: unexpected role", "unexpected role \"system\""},
			Sent:   hasInline,
			Apply:  func(f *features) { f.inlineTools = false },
			Notice: "the endpoint does not support tools within the conversation; new ones go to the end of the list",
		},
		{
			Name:   "display",
			Words:  []string{"display"},
			Sent:   func(f *features, r *model.Request) bool { return f.display && f.word(r) == wordAdaptive },
			Apply:  func(f *features) { f.display = false },
			Notice: "the endpoint does not know how thinking is shown; it may stay hidden",
		},
		{
			Name:   "no thinking",
			Words:  []string{"thinking", "disabled"},
			Sent:   func(f *features, r *model.Request) bool { return f.word(r) == wordDisabled },
			Apply:  func(f *features) { f.always = true },
			Notice: "the model always thinks; it is not told otherwise any more",
		},
		{
			Name:   "adaptive",
			Words:  []string{"adaptive", "thinking.type"},
			Sent:   func(f *features, r *model.Request) bool { return f.word(r) == wordAdaptive },
			Apply:  func(f *features) { f.thinking = thinksBudget },
			Notice: "the model thinks with a budget; one is set",
		},
		{
			Name:  "budget",
			Words: []string{"budget_tokens", "thinking.type", "thinking.enabled"},
			Sent:  func(f *features, r *model.Request) bool { return f.word(r) == wordBudget },
			Apply: func(f *features) {
				f.thinking = thinksAdaptive
				if f.Tried("adaptive") {
					f.thinking = thinksNot
				}
			},
			Notice: "the model does not support a budget for thinking; it is left out",
		},
		{
			Name:   "thinking",
			Fields: []string{"thinking"},
			Words:  []string{"thinking"},
			Sent:   func(f *features, r *model.Request) bool { return f.word(r) != wordNone },
			Apply:  func(f *features) { f.thinking = thinksNot },
			Notice: "the model rejects the thinking setting; it is left out",
		},
		endpoint.WithoutAnswerSchema(form, "output_config.format", "output_format", "json_schema", "structured output"),
		{
			Name:   "effort",
			Words:  []string{"effort", "output_config"},
			Sent:   func(f *features, r *model.Request) bool { return f.level(r) != "" },
			Apply:  func(f *features) { f.effort = false },
			Notice: "the endpoint refuses the reasoning effort; it is left out",
		},
		endpoint.WithoutTemperature(form),
		endpoint.WithoutTopP(form),
		{
			Name:   "cache hour",
			Words:  []string{"ttl"},
			Sent:   func(f *features, _ *model.Request) bool { return f.cacheHour },
			Apply:  func(f *features) { f.cacheHour = false },
			Notice: "the endpoint keeps its prompt cache for five minutes only",
		},
		{
			Name:   "cache",
			Words:  []string{"cache_control"},
			Sent:   func(f *features, _ *model.Request) bool { return f.cache },
			Apply:  func(f *features) { f.cache = false },
			Notice: "the endpoint refuses prompt cache markers; they are left out",
		},
		{
			Name:   "eager",
			Words:  []string{"eager_input_streaming"},
			Sent:   func(f *features, r *model.Request) bool { return f.eager && len(r.Tools) > 0 },
			Apply:  func(f *features) { f.eager = false },
			Notice: "the endpoint does not stream arguments as they are written",
		},
		{
			Name:   "betas",
			Words:  []string{"anthropic-beta", "beta header"},
			Sent:   func(f *features, _ *model.Request) bool { return f.betas },
			Apply:  func(f *features) { f.betas, f.inlineTools, f.dropBlocks = false, false, false },
			Notice: "the endpoint refuses beta headers; they are left out",
		},
		endpoint.SimpleSchemas(form, "input_schema", "$ref", "$defs", "schema"),
		endpoint.WithoutDocuments(form),
		endpoint.WithoutImages(form, "image", "multimodal", "vision"),
	}
}

// expectMismatch has the server drop thinking that belongs to a different beginning before it has to refuse it: if the
// model binds its thinking, and the beginning is known to have changed. It returns what to tell the person.
func (f *features) expectMismatch(r *model.Request) string {
	if !r.Rebuilt || !f.binds || !f.betas || !f.thoughts || f.thinking == thinksNot {
		return ""
	}
	lost := thinkingOf(r)
	if len(lost) == 0 {
		return ""
	}
	f.dropBlocks, f.lost = true, lost
	return fmt.Sprintf("%s: %s", r.Model, bindingNotice)
}

// learn changes the features so that the refusal does not occur again, and returns a notice for the person;
// false when there is nothing to try.
func (f *features) learn(r *model.Request, refusal endpoint.Fault) (string, bool) {
	said := strings.ToLower(refusal.Whole())
	if notice, ok := f.learnOutput(r, refusal, said); ok {
		return notice, true
	}
	if notice, ok := f.LearnPictures(r, refusal); ok {
		return notice, true
	}
	if notice, ok := f.LearnEfforts(r, said); ok {
		return notice, true
	}
	if m := endpoint.TryRemedy(remedies(), f, &f.Form, r, refusal); m != nil {
		if m.Name == bindingRemedy {
			f.lost = thinkingOf(r)
		}
		return fmt.Sprintf("%s: %s", r.Model, m.Notice), true
	}
	return "", false
}

// learnOutput lowers the output limit if a refusal says that it is too high.
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
	if n := endpoint.LeadingNumber(rest); ok && n > 0 && n < f.maxTokens {
		f.maxTokens = n
		return fmt.Sprintf("%s: the model writes %d tokens at most; that limit is set", r.Model, n), true
	}
	return "", false
}

// roomForOutput returns what "exceed context limit: A + B > C" leaves for the answer: C - A.
func roomForOutput(f endpoint.Fault) int {
	_, sum, ok := strings.Cut(strings.ReplaceAll(f.Whole(), ",", ""), "context limit: ")
	if !ok {
		return 0
	}
	input := endpoint.LeadingNumber(sum)
	_, rest, ok := strings.Cut(sum, " > ")
	if !ok || input == 0 {
		return 0
	}
	return endpoint.LeadingNumber(rest) - input - 64
}
