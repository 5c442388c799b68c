package catalogue

import (
	"strings"
	"time"

	"jcode/agent/model"
)

// Info is what is known of a model.
type Info struct {
	// Window is the context window in tokens, 0 when unknown.
	Window int `json:"window,omitempty"`
	// MaxOutput is the longest answer in tokens, 0 when unknown.
	MaxOutput int `json:"max_output,omitempty"`
	// Input, Output and Cached are prices in US dollars per million tokens; all 0 when unknown.
	Input  float64 `json:"input,omitempty"`
	Output float64 `json:"output,omitempty"`
	Cached float64 `json:"cached,omitempty"`
	// Images says that it accepts pictures.
	Images bool `json:"images,omitempty"`
	// Reasons says that it thinks before it answers.
	Reasons bool `json:"reasons,omitempty"`
	// Habits are what requests to it must take into account.
	Habits
	// Terms say when the price is another one.
	Terms
	// ByName says that an entry of one's own is meant for every ID that has its name.
	ByName bool `json:"-"`
}

// Habits are what requests to a model must take into account.
type Habits struct {
	// ThinksBack says that it needs its thinking of earlier steps sent back, and silently does worse without.
	ThinksBack bool `json:"-"`
	// Patches says that it was trained to change files with an apply_patch tool.
	Patches bool `json:"-"`
	// Unpatched says in config that it must not get that tool.
	Unpatched bool `json:"-"`
}

// Lookup returns what is known of a model: the entry of own with this ID, on top of the embedded tables. Window and
// habits are those of its family, the longest name that begins the ID. A price belongs to one model only, whatever
// the ID has around its name: the maker before a slash, a region, a date. It returns false when nothing is known.
func Lookup(id string, own map[string]Info) (Info, bool) {
	info, known := Info{}, false
	if e := find(id); e != nil {
		info, known = e.Info, true
	}
	if p := priceOf(id, time.Now()); p != nil {
		p.set(&info, id)
		known = true
	}
	if mine, ok := own[id]; ok {
		return mine.over(info), true
	}
	if mine, ok := own[Name(id)]; ok && mine.ByName {
		return mine.over(info), true
	}
	return info, known
}

// find returns the family of a model, or nil.
func find(id string) (best *entry) {
	id = Name(id)
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
		base.Input, base.Output, base.Cached, base.Terms = i.Input, i.Output, i.Cached, i.Terms
	}
	base.Images = base.Images || i.Images
	base.Reasons = base.Reasons || i.Reasons
	base.Patches = (base.Patches || i.Patches) && !i.Unpatched
	base.ThinksBack = base.ThinksBack || i.ThinksBack
	return base
}

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
