package catalogue

import (
	"strings"

	"jcode/agent/model"
)

// Terms say when a model's price is another one.
type Terms struct {
	// Write and WriteHour are the prices of input that is written to the cache, for minutes or for an hour; 0 is
	// the price of plain input.
	Write     float64 `json:"cache_write,omitempty"`
	WriteHour float64 `json:"cache_write_1h,omitempty"`
	// Long is what a request with a long prompt costs.
	Long Long `json:"long,omitzero"`
	// Tiers are the factors of service tiers by the names that answers give them.
	Tiers map[string]float64 `json:"tiers,omitempty"`
}

// Long are the factors of a request whose prompt is longer than Above tokens: all of it costs more.
type Long struct {
	Above  int     `json:"above"`
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// Priced reports whether a price is known.
func (i Info) Priced() bool { return i.Input > 0 || i.Output > 0 }

// Cost returns what one answer costs in US dollars; false when the price is unknown. A price that the provider named
// takes precedence. Cached input is charged at its own price, or at the full one if none is known. Web searches cost
// what the makers charge for each.
func (i Info) Cost(u model.Usage) (float64, bool) {
	if u.Cost > 0 {
		return u.Cost, true
	}
	if !i.Priced() {
		return 0, false
	}
	factor, known := i.tier(u.Tier)
	if !known {
		return 0, false
	}
	or := func(price, otherwise float64) float64 {
		if price > 0 {
			return price
		}
		return otherwise
	}
	fresh := max(0, u.Input-u.Cached-u.Written-u.WrittenHour)
	input := float64(fresh)*i.Input + float64(u.Cached)*or(i.Cached, i.Input) + float64(u.Written)*or(i.Write, i.Input) + float64(u.WrittenHour)*or(i.WriteHour, or(i.Write, i.Input))
	output := float64(u.Output) * i.Output
	if passes := 1 + u.Searches; i.Long.Above > 0 && u.Input/passes > i.Long.Above { // each search reads the prompt again
		input, output = input*i.Long.Input, output*i.Long.Output
	}
	return (input+output)*factor/1e6 + float64(u.Searches)*searchPrice, true
}

// tier returns the factor of a service tier; false when it is not known.
func (i Info) tier(name string) (float64, bool) {
	switch name = strings.ToLower(name); name {
	case "", "default", "standard", "auto", "scale":
		return 1, true
	}
	factor, known := i.Tiers[name]
	return factor, known
}

// searchPrice is the list price of a web search in US dollars, at Anthropic and OpenAI alike.
const searchPrice = 0.01
