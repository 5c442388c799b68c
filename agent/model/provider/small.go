package provider

import (
	"strings"

	"jcode/agent/model/catalogue"
)

// Small returns the model that a provider is asked for in place of another one where little depends on the answer: the
// cheapest that is known of the same maker. It is "" where that is not known to be cheaper, and at an address that is
// not the maker's own: nobody knows which models others pass on, and under which names.
func (p Config) Small(id string) string {
	if owner, ok := maker(id); !ok || owner != p.Name || !atHome(p) {
		return ""
	}
	small := catalogue.Cheapest(p.Models, func(other string) bool {
		owner, ok := maker(other)
		return ok && owner == p.Name
	})
	if small == id || !catalogue.Cheaper(small, id, p.Models) {
		return ""
	}
	return small
}

// atHome reports whether a provider is asked at the address that jcode knows of it.
func atHome(p Config) bool {
	for _, known := range Presets() {
		if known.Name == p.Name {
			return strings.TrimRight(known.BaseURL, "/") == strings.TrimRight(p.BaseURL, "/")
		}
	}
	return false
}
