package model

import "strings"

// Info is what is known of a model.
type Info struct {
	// Window is the context window in tokens, 0 when unknown.
	Window int `json:"window,omitempty"`
	// MaxOutput is the longest answer in tokens, 0 when unknown.
	MaxOutput int `json:"max_output,omitempty"`
	// Input, Output and Cached are prices in US dollars per million tokens; all 0 when
	// unknown, or when the model costs nothing.
	Input  float64 `json:"input,omitempty"`
	Output float64 `json:"output,omitempty"`
	Cached float64 `json:"cached,omitempty"`
	// Images says that it sees pictures.
	Images bool `json:"images,omitempty"`
	// Reasons says that it thinks before it answers.
	Reasons bool `json:"reasons,omitempty"`
}

// Lookup tells what is known of a model: own entries of config first, by exact ID, laid
// over the embedded table, which is searched for the longest name that the ID begins with.
// The maker's name before a slash and a variant after a colon do not count. False when
// neither knows it.
func Lookup(id string, own map[string]Info) (Info, bool) {
	info, known := table(id)
	if mine, ok := own[id]; ok {
		return mine.over(info), true
	}
	return info, known
}

func table(id string) (Info, bool) {
	id = strings.ToLower(id)
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		id = id[i+1:]
	}
	id, _, _ = strings.Cut(id, ":")
	best, found := Info{}, 0
	for i := range catalogue {
		if e := &catalogue[i]; len(e.name) > found && strings.HasPrefix(id, e.name) {
			best, found = e.Info, len(e.name)
		}
	}
	return best, found > 0
}

// over lays what is set over what is known otherwise.
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
	return base
}

// Cost gives what a usage costs in US dollars; false when the price is unknown. Cached
// input counts at its own price, or at the full one where none is known.
func (i Info) Cost(u Usage) (float64, bool) {
	if i.Input == 0 && i.Output == 0 {
		return 0, false
	}
	cached := i.Cached
	if cached == 0 {
		cached = i.Input
	}
	fresh := max(0, u.Input-u.Cached)
	return (float64(fresh)*i.Input + float64(u.Cached)*cached + float64(u.Output)*i.Output) / 1e6, true
}
