package endpoint

import (
	"slices"
	"strings"

	"jcode/agent/model"
)

// MaxSources bounds how many sources of a provider's search are shown.
const MaxSources = 10

// WantsSearch reports whether a request lets the provider search the web itself. A tool with that name takes
// precedence over the provider's own.
func WantsSearch(r *model.Request) bool {
	return r.Search && !slices.ContainsFunc(r.Tools, func(t model.Tool) bool { return t.Name == "web_search" })
}

// Short reduces what a provider's tool says about itself to one line of at most 200 bytes.
func Short(s string) string {
	const most = 200
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// Ran describes in one line what a tool of the provider did there, with what it was asked if anything is known of it.
func Ran(name, did string, asked ...string) string {
	line := name + " " + did + " at the provider"
	if said := Short(strings.Join(asked, " ")); said != "" {
		line += ": " + said
	}
	return line
}
