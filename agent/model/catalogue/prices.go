package catalogue

import (
	"strings"
	"time"
)

// PricesDated is the month of most figures among the embedded prices, and PricesFrom where they are from. They were
// not read from the makers' pages on one day: the figures come from public pages of that month, and where those had
// none from excerpts in search results, some older and some newer. The page where each maker publishes its prices
// stands above its rows, to compare them with.
const (
	PricesDated = "2026-07"
	PricesFrom  = "public pages and search excerpts"
)

// price is the list price of one model, in US dollars per million tokens. Nothing is said of any other model: a price
// of gpt-5.2 says nothing about gpt-5.2-pro.
type price struct {
	name                  string
	input, output, cached float64
	write                 float64 // to the cache; 0 is a quarter more than input for Claude, and plain input for others
	long                  Long
	flex, priority, fast  float64 // factors of service tiers; 0 is unknown
	until                 int     // the last day, as 20261231, after which the next row of this name holds; 0 has none
}

// Factors of long prompts.
var (
	longOpenAI = Long{272_000, 2, 1.5}
	longGoogle = Long{200_000, 2, 1.5}
	longSonnet = Long{200_000, 2, 1.5}
	longHaiku  = Long{100_000, 5, 5}
)

// priceOf returns the price of a model on a day, or nil.
func priceOf(id string, now time.Time) *price {
	base := strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	today := now.Year()*10_000 + int(now.Month())*100 + now.Day()
	for _, name := range []string{base, Name(id)} {
		for i := range prices {
			if p := &prices[i]; p.name == name && (p.until == 0 || today <= p.until) {
				return p
			}
		}
	}
	return nil
}

// set sets the price of a model.
func (p *price) set(info *Info, id string) {
	factor := 1.0
	if regional(id, p.name) {
		factor = 1.1
	}
	info.Input, info.Output, info.Cached = p.input*factor, p.output*factor, p.cached*factor
	info.Write, info.Long = p.write*factor, p.long
	if strings.HasPrefix(p.name, "claude-") {
		info.Write, info.WriteHour = info.Input*1.25, info.Input*2
	}
	info.Tiers = map[string]float64{}
	if strings.HasPrefix(p.name, "claude-") {
		info.Tiers["priority"] = 1 // it is paid in advance
	}
	for name, factor := range map[string]float64{"flex": p.flex, "priority": p.priority, "fast": p.fast} {
		if factor > 0 {
			info.Tiers[name] = factor
		}
	}
}

// prices are list prices as far as they were known: see PricesDated. Settings correct them, and so does a table that is read with jcode models update.
var prices = [...]price{
	// https://developers.openai.com/api/docs/pricing
	{name: "gpt-6.2-astra", input: 8, output: 40, cached: 0.4, write: 10, long: longOpenAI, priority: 2},
	{name: "gpt-6.2-sol", input: 2, output: 10, cached: 0.1, write: 2.5, long: longOpenAI, priority: 2},
	{name: "gpt-6.1-sol", input: 2, output: 10, cached: 0.1, write: 2.5, long: longOpenAI, flex: 0.5, priority: 2},
	{name: "gpt-6.1-terra", input: 1, output: 5, cached: 0.05, write: 1.25, long: longOpenAI},
	{name: "gpt-6-astra", input: 10, output: 50, cached: 1, write: 12.5, long: longOpenAI, flex: 0.5, priority: 2},
	{name: "gpt-6-sol", input: 2, output: 10, cached: 0.2, write: 2.5, long: longOpenAI, flex: 0.5, priority: 2},
	{name: "gpt-6-luna", input: 0.1, output: 0.5, cached: 0.01, write: 0.125, long: longOpenAI, flex: 0.5, priority: 2},
	{name: "gpt-5.6", input: 4, output: 20, cached: 0.4, write: 5, long: longOpenAI, flex: 0.5, priority: 2},
	{name: "gpt-5.6-sol", input: 4, output: 20, cached: 0.4, write: 5, long: longOpenAI, flex: 0.5, priority: 2},
	{name: "gpt-5.6-terra", input: 2, output: 12, cached: 0.2, write: 2.5, long: longOpenAI, flex: 0.5, priority: 2},
	{name: "gpt-5.6-luna", input: 0.2, output: 1.2, cached: 0.02, write: 0.25, long: longOpenAI, flex: 0.5, priority: 2},
	{name: "gpt-5.5", input: 5, output: 30, cached: 0.5, long: longOpenAI, flex: 0.5, priority: 2},
	{name: "gpt-5.5-pro", input: 30, output: 180, cached: 3, long: longOpenAI, flex: 0.5},
	{name: "gpt-5.4", input: 2.5, output: 15, cached: 0.25, long: longOpenAI, flex: 0.5, priority: 2},
	{name: "gpt-5.4-mini", input: 0.75, output: 4.5, cached: 0.075, flex: 0.5, priority: 2},
	{name: "gpt-5.4-nano", input: 0.2, output: 1.25, cached: 0.02, flex: 0.5},
	{name: "gpt-5.4-pro", input: 30, output: 180, cached: 3, long: longOpenAI, flex: 0.5},
	{name: "gpt-5.3-codex", input: 1.75, output: 14, cached: 0.175, priority: 2},
	{name: "gpt-5.3-codex-spark", input: 1.75, output: 14, cached: 0.175, priority: 2},
	{name: "gpt-5.3-chat", input: 1.75, output: 14, cached: 0.175, priority: 2},
	{name: "gpt-5.2", input: 1.75, output: 14, cached: 0.175, flex: 0.5, priority: 2},
	{name: "gpt-5.2-codex", input: 1.75, output: 14, cached: 0.175, priority: 2},
	{name: "gpt-5.2-chat", input: 1.75, output: 14, cached: 0.175, priority: 2},
	{name: "gpt-5.2-pro", input: 21, output: 168},
	{name: "gpt-5.1", input: 1.25, output: 10, cached: 0.125, flex: 0.5, priority: 2},
	{name: "gpt-5.1-codex", input: 1.25, output: 10, cached: 0.125, priority: 2},
	{name: "gpt-5.1-codex-max", input: 1.25, output: 10, cached: 0.125},
	{name: "gpt-5.1-chat", input: 1.25, output: 10, cached: 0.125},
	{name: "gpt-5", input: 1.25, output: 10, cached: 0.125, flex: 0.5, priority: 2},
	{name: "gpt-5-codex", input: 1.25, output: 10, cached: 0.125},
	{name: "gpt-5-chat", input: 1.25, output: 10, cached: 0.125},
	{name: "gpt-5.1-codex-mini", input: 0.25, output: 2, cached: 0.025, priority: 1.8},
	{name: "gpt-5-mini", input: 0.25, output: 2, cached: 0.025, flex: 0.5, priority: 1.8},
	{name: "gpt-5-nano", input: 0.05, output: 0.4, cached: 0.005, flex: 0.5},
	{name: "gpt-5-pro", input: 15, output: 120},
	{name: "codex-mini", input: 1.5, output: 6, cached: 0.375},
	{name: "gpt-4.1", input: 2, output: 8, cached: 0.5, priority: 1.75},
	{name: "gpt-4.1-mini", input: 0.4, output: 1.6, cached: 0.1, priority: 1.75},
	{name: "gpt-4.1-nano", input: 0.1, output: 0.4, cached: 0.025, priority: 2},
	{name: "gpt-4o", input: 2.5, output: 10, cached: 1.25, priority: 1.7},
	{name: "gpt-4o-2024-05-13", input: 5, output: 15},
	{name: "gpt-4o-mini", input: 0.15, output: 0.6, cached: 0.075},
	{name: "gpt-4-turbo", input: 10, output: 30},
	{name: "gpt-4-turbo-preview", input: 10, output: 30},
	{name: "gpt-4-1106-preview", input: 10, output: 30},
	{name: "gpt-4-0125-preview", input: 10, output: 30},
	{name: "gpt-4", input: 30, output: 60},
	{name: "gpt-4-0613", input: 30, output: 60},
	{name: "gpt-3.5-turbo", input: 0.5, output: 1.5},
	{name: "gpt-3.5-turbo-0125", input: 0.5, output: 1.5},
	{name: "o1", input: 15, output: 60, cached: 7.5},
	{name: "o1-pro", input: 150, output: 600},
	{name: "o3", input: 2, output: 8, cached: 0.5, flex: 0.5, priority: 1.75},
	{name: "o3-pro", input: 20, output: 80},
	{name: "o3-mini", input: 1.1, output: 4.4, cached: 0.55},
	{name: "o4-mini", input: 1.1, output: 4.4, cached: 0.275, flex: 0.5, priority: 1.8},

	// https://platform.claude.com/docs/en/about-claude/pricing
	{name: "claude-fable-5-2", input: 8, output: 40, cached: 0.2},
	{name: "claude-fable-5-1", input: 10, output: 50, cached: 0.25},
	{name: "claude-fable-5", input: 10, output: 50, cached: 1},
	{name: "claude-mythos-5-1", input: 10, output: 50, cached: 0.25},
	{name: "claude-mythos-5", input: 10, output: 50, cached: 1},
	{name: "claude-opus-5-5", input: 4, output: 20, cached: 0.2, fast: 2},
	{name: "claude-opus-5", input: 5, output: 25, cached: 0.5},
	{name: "claude-opus-4-8", input: 5, output: 25, cached: 0.5},
	{name: "claude-opus-4-7", input: 5, output: 25, cached: 0.5},
	{name: "claude-opus-4-6", input: 5, output: 25, cached: 0.5},
	{name: "claude-opus-4-5", input: 5, output: 25, cached: 0.5},
	{name: "claude-opus-4-1", input: 15, output: 75, cached: 1.5},
	{name: "claude-opus-4", input: 15, output: 75, cached: 1.5},
	{name: "claude-sonnet-5-5", input: 2, output: 10, cached: 0.1},
	{name: "claude-sonnet-5", input: 2, output: 10, cached: 0.2},
	{name: "claude-sonnet-4-6", input: 3, output: 15, cached: 0.3},
	{name: "claude-sonnet-4-5", input: 3, output: 15, cached: 0.3, long: longSonnet},
	{name: "claude-sonnet-4", input: 3, output: 15, cached: 0.3, long: longSonnet},
	{name: "claude-haiku-5-5", input: 0.1, output: 0.5, cached: 0.01, long: longHaiku},
	{name: "claude-haiku-4-5", input: 1, output: 5, cached: 0.1},
	{name: "claude-3-7-sonnet", input: 3, output: 15, cached: 0.3},
	{name: "claude-3-5-sonnet", input: 3, output: 15, cached: 0.3},
	{name: "claude-3-5-haiku", input: 0.8, output: 4, cached: 0.08},
	{name: "claude-3-opus", input: 15, output: 75, cached: 1.5},
	{name: "claude-3-haiku", input: 0.25, output: 1.25, cached: 0.03},

	// https://ai.google.dev/gemini-api/docs/pricing
	{name: "gemini-4-neon", input: 3, output: 15, cached: 0.15, flex: 0.5, priority: 1.8},
	{name: "gemini-4-hydrogen", input: 1.5, output: 7.5, cached: 0.075, flex: 0.5, priority: 1.8},
	{name: "gemini-3.8-flash", input: 0.75, output: 3.75, cached: 0.075, flex: 0.5, until: 20261231},
	{name: "gemini-3.8-flash", input: 1.5, output: 7.5, cached: 0.15, flex: 0.5},
	{name: "gemini-3.7-flash", input: 0.75, output: 3.75, cached: 0.075, flex: 0.5, until: 20261231},
	{name: "gemini-3.7-flash", input: 1.5, output: 7.5, cached: 0.15, flex: 0.5},
	{name: "gemini-3.6-flash", input: 0.75, output: 3.75, cached: 0.075, flex: 0.5, until: 20261231},
	{name: "gemini-3.6-flash", input: 1.5, output: 7.5, cached: 0.15, flex: 0.5},
	{name: "gemini-3.5-flash", input: 1.5, output: 9, cached: 0.15, priority: 1.8},
	{name: "gemini-3.5-flash-lite", input: 0.3, output: 2.5, cached: 0.03, flex: 0.5, priority: 1.8},
	{name: "gemini-3.1-pro", input: 2, output: 12, cached: 0.2, long: longGoogle, priority: 1.8},
	{name: "gemini-3.1-pro-preview-customtools", input: 2, output: 12, cached: 0.2, long: longGoogle, priority: 1.8},
	{name: "gemini-3-pro", input: 2, output: 12, cached: 0.2, long: longGoogle, priority: 1.8},
	{name: "gemini-3.1-flash-lite", input: 0.25, output: 1.5, cached: 0.025, flex: 0.5, priority: 1.8},
	{name: "gemini-3-flash", input: 0.5, output: 3, cached: 0.05, priority: 1.8},
	{name: "gemini-2.5-pro", input: 1.25, output: 10, cached: 0.125, long: longGoogle},
	{name: "gemini-2.5-flash", input: 0.3, output: 2.5, cached: 0.03},
	{name: "gemini-2.5-flash-lite", input: 0.1, output: 0.4, cached: 0.01},
	{name: "gemini-2.0-flash", input: 0.1, output: 0.4, cached: 0.025},
	{name: "gemini-2.0-flash-lite", input: 0.075, output: 0.3, cached: 0.01875},

	// https://api-docs.deepseek.com/quick_start/pricing
	{name: "deepseek-v4-pro", input: 1.32, output: 3.96, cached: 0.044},
	{name: "deepseek-v4-flash", input: 0.22, output: 0.66, cached: 0.007},
	{name: "deepseek-chat", input: 0.28, output: 0.42, cached: 0.028},
	{name: "deepseek-reasoner", input: 0.28, output: 0.42, cached: 0.028},

	// https://docs.x.ai/docs/models
	{name: "grok-4.7", input: 2, output: 6, cached: 0.5},
	{name: "grok-4.5", input: 2, output: 6, cached: 0.5},
	{name: "grok-4.3", input: 1.25, output: 2.5, cached: 0.2},
	{name: "grok-4", input: 3, output: 15, cached: 0.75},
	{name: "grok-4-0709", input: 3, output: 15, cached: 0.75},
	{name: "grok-4-fast", input: 0.2, output: 0.5, cached: 0.05},
	{name: "grok-4-fast-reasoning", input: 0.2, output: 0.5, cached: 0.05},
	{name: "grok-4-fast-non-reasoning", input: 0.2, output: 0.5, cached: 0.05},
	{name: "grok-4-1-fast", input: 0.2, output: 0.5, cached: 0.05},
	{name: "grok-4-1-fast-reasoning", input: 0.2, output: 0.5, cached: 0.05},
	{name: "grok-4-1-fast-non-reasoning", input: 0.2, output: 0.5, cached: 0.05},
	{name: "grok-code-fast-1", input: 0.2, output: 1.5, cached: 0.02},
	{name: "grok-code-fast", input: 0.2, output: 1.5, cached: 0.02},
	{name: "grok-build-0.1", input: 1, output: 2, cached: 0.2},
	{name: "grok-3", input: 3, output: 15, cached: 0.75},
	{name: "grok-3-mini", input: 0.3, output: 0.5, cached: 0.075},

	// https://mistral.ai/pricing
	{name: "mistral-large", input: 0.5, output: 1.5},
	{name: "mistral-medium", input: 1.5, output: 7.5},
	{name: "mistral-small", input: 0.1, output: 0.3},
	{name: "devstral-medium", input: 0.4, output: 2},
	{name: "devstral", input: 0.4, output: 2},
	{name: "devstral-2512", input: 0.4, output: 2},
	{name: "devstral-small", input: 0.1, output: 0.3},
	{name: "codestral", input: 0.3, output: 0.9},
	{name: "magistral-medium", input: 2, output: 5},
	{name: "magistral-small", input: 0.5, output: 1.5},
}
