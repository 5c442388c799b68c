package responses

import (
	"encoding/json"
	"slices"
	"strings"

	"jcode/agent/model/endpoint"
)

const searchCall = "web_search_call"

// searches reports whether the model may search the web.
func (e *encoder) searches() bool { return e.f.search && endpoint.WantsSearch(e.req) }

// include requests the parts of an answer that are sent only on request.
func (e *encoder) include() {
	var list []string
	if e.f.encrypted {
		list = append(list, `"reasoning.encrypted_content"`)
	}
	if e.f.sources && e.searches() {
		list = append(list, `"web_search_call.action.sources"`)
	}
	if len(list) > 0 && e.Own("include") {
		e.Raw("[" + strings.Join(list, ",") + "]")
	}
}

// searched is a call of the web search.
type searched struct {
	Status string `json:"status"`
	Action struct {
		Type    string   `json:"type"`
		Query   string   `json:"query"`
		Queries []string `json:"queries"`
		URL     string   `json:"url"`
		Pattern string   `json:"pattern"`
		Sources []struct {
			URL string `json:"url"`
		} `json:"sources"`
	} `json:"action"`
}

// ranThere describes what a server tool did, with its sources; "" for other items.
func ranThere(kind string, raw json.RawMessage) string {
	if kind != searchCall {
		return ""
	}
	var w searched
	_ = json.Unmarshal(raw, &w) // without an action the search itself is described
	a := &w.Action
	said := []string{a.Query}
	if a.Query == "" {
		said = a.Queries
	}
	did := "ran"
	if w.Status == "failed" {
		did = "failed"
	}
	lines := []string{endpoint.Ran("web_search", did, append(slices.Clone(said), a.Pattern, a.URL)...)}
	for _, s := range a.Sources[:min(len(a.Sources), endpoint.MaxSources)] {
		if s.URL != "" {
			lines = append(lines, endpoint.Short(s.URL))
		}
	}
	return strings.Join(lines, "\n")
}

// billed reports whether the provider charges for a call: it searched, rather than opening a page that it had
// found.
func billed(raw json.RawMessage) bool {
	var w searched
	return json.Unmarshal(raw, &w) == nil && w.Status != "failed" && (w.Action.Type == "" || w.Action.Type == "search")
}
