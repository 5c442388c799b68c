package catalogue

import (
	"strings"

	"jcode/agent/model"
)

// Info is what is known of a model.
type Info struct {
	// Window is the context window in tokens, 0 when unknown.
	Window int `json:"window,omitempty"`
	// MaxOutput is the longest answer in tokens, 0 when unknown.
	MaxOutput int `json:"max_output,omitempty"`
	// Input, Output and Cached are prices in US dollars per million tokens; all 0 when unknown, or when the
	// model is free.
	Input  float64 `json:"input,omitempty"`
	Output float64 `json:"output,omitempty"`
	Cached float64 `json:"cached,omitempty"`
	// Images says that it accepts pictures.
	Images bool `json:"images,omitempty"`
	// Reasons says that it thinks before it answers.
	Reasons bool `json:"reasons,omitempty"`
	// Habits are what requests to it must take into account.
	Habits
}

// Habits are what requests to a model, or its bills, must take into account.
type Habits struct {
	// Writes says that writing to the prompt cache costs more than plain input.
	Writes bool `json:"-"`
	// ThinksBack says that it needs its thinking of earlier steps sent back, and silently does worse without.
	ThinksBack bool `json:"-"`
	// Patches says that it was trained to change files with an apply_patch tool.
	Patches bool `json:"-"`
	// Unpatched says in config that it must not get that tool.
	Unpatched bool `json:"-"`
}

// Lookup returns what is known of a model: the entry of own with this exact ID, on top of the embedded table,
// which is searched for the longest name that is a prefix of the ID. The maker's name before a slash and a
// variant after a colon are ignored. It returns false when neither knows the model.
func Lookup(id string, own map[string]Info) (Info, bool) {
	info, known := table(id)
	if mine, ok := own[id]; ok {
		return mine.over(info), true
	}
	return info, known
}

func table(id string) (Info, bool) {
	if e := find(id); e != nil {
		return e.Info, true
	}
	return Info{}, false
}

// find returns the entry with the longest name that is a prefix of id, or nil.
func find(id string) (best *entry) {
	id = strings.ToLower(id)
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		id = id[i+1:]
	}
	id, _, _ = strings.Cut(id, ":")
	for i := range catalogue {
		if e := &catalogue[i]; strings.HasPrefix(id, e.name) && (best == nil || len(e.name) > len(best.name)) {
			best = e
		}
	}
	return best
}

// over returns base with the fields that i sets.
func (i Info) over(base Info) Info {
	if i.Window > 0 {
		base.Window = i.Window
	}
	if i.MaxOutput > 0 {
		base.MaxOutput = i.MaxOutput
	}
	if i.Input > 0 || i.Output > 0 {
		base.Input, base.Output, base.Cached = i.Input, i.Output, i.Cached
	}
	base.Images = base.Images || i.Images
	base.Reasons = base.Reasons || i.Reasons
	base.Writes = base.Writes || i.Writes
	base.Patches = (base.Patches || i.Patches) && !i.Unpatched
	base.ThinksBack = base.ThinksBack || i.ThinksBack
	return base
}

// Cost returns what a usage costs in US dollars; false when the price is unknown. A price that the provider
// named takes precedence. Cached input is charged at its own price, or at the full one if none is known. If
// the maker charges for cache writes, input written to the cache costs a quarter more, or twice the price if
// it is kept for an hour. Web searches cost what the makers charge for each.
func (i Info) Cost(u model.Usage) (float64, bool) {
	if u.Cost > 0 {
		return u.Cost, true
	}
	if i.Input == 0 && i.Output == 0 {
		return 0, false
	}
	cached := i.Cached
	if cached == 0 {
		cached = i.Input
	}
	write, writeHour := i.Input, i.Input
	if i.Writes {
		write, writeHour = i.Input*1.25, i.Input*2
	}
	fresh := max(0, u.Input-u.Cached-u.Written-u.WrittenHour)
	tokens := float64(fresh)*i.Input + float64(u.Cached)*cached + float64(u.Written)*write + float64(u.WrittenHour)*writeHour + float64(u.Output)*i.Output
	return tokens/1e6 + float64(u.Searches)*searchPrice, true
}

// searchPrice is the list price of a web search in US dollars, at Anthropic and OpenAI alike.
const searchPrice = 0.01

// Family returns the name that related models share: the longest name of the table that is a prefix of the
// ID, or the ID itself.
func Family(id string) string {
	if e := find(id); e != nil {
		return e.name
	}
	return strings.ToLower(id)
}

// GoesBack reports whether an opaque part may be sent to a model: only over the protocol and to the provider
// that it came from, and to a model of the same family.
func GoesBack(o model.Opaque, protocol, provider, id string) bool {
	return o.Protocol == protocol && o.Provider == provider && (o.Model == id || Family(o.Model) == Family(id))
}
