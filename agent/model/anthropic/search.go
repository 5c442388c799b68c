package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"jcode/agent/model/endpoint"
)

// searchTool declares the provider's own web search, without its closing brace.
const searchTool = `{"type":"web_search_20250305","name":"web_search","max_uses":10`

// searches reports whether the model may search the web.
func (e *encoder) searches() bool { return e.f.search && endpoint.WantsSearch(e.req) }

// withResults drops calls of the provider's own tools whose results never arrived because the answer was cut
// there: the API accepts them only at the end, where it continues by itself.
func withResults(blocks []block) []block {
	if !slices.ContainsFunc(blocks, func(b block) bool { return b.kind == "server_tool_use" }) {
		return blocks
	}
	have := map[string]bool{}
	ids := make([]string, len(blocks))
	for i, b := range blocks {
		var id struct {
			ID      string `json:"id"`
			Answers string `json:"tool_use_id"`
		}
		if b.raw != "" && json.Unmarshal([]byte(b.raw), &id) == nil {
			ids[i], have[id.Answers] = id.ID, true
		}
	}
	kept := blocks[:0:0]
	for i, b := range blocks {
		if b.kind != "server_tool_use" || have[ids[i]] {
			kept = append(kept, b)
		}
	}
	return kept
}

// ranThere describes in one line what a block of a server tool did; "" for other blocks.
func ranThere(b *building) string {
	switch {
	case b.kind == "server_tool_use":
		return endpoint.Ran(b.name, "ran", asked(b.inputJSON())...)
	case strings.HasSuffix(b.kind, "_tool_result"):
		return found(b)
	}
	return ""
}

// asked returns what the input of a server tool says: its query and address, else the input itself, unless nothing is
// in it.
func asked(input string) []string {
	var known struct {
		Query string `json:"query"`
		URL   string `json:"url"`
	}
	if json.Unmarshal([]byte(input), &known) == nil && known.Query+known.URL != "" {
		return []string{known.Query, known.URL}
	}
	var members map[string]any
	if json.Unmarshal([]byte(input), &members) == nil {
		for _, value := range members {
			if value != nil && value != "" {
				return []string{input}
			}
		}
		return nil
	}
	return []string{input}
}

// found lists the sources of a result, or says why there are none.
func found(b *building) string {
	var r struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal([]byte(b.start), &r) != nil {
		return ""
	}
	var failed struct {
		Code string `json:"error_code"`
	}
	if json.Unmarshal(r.Content, &failed) == nil && failed.Code != "" {
		return endpoint.Ran(strings.TrimSuffix(b.kind, "_tool_result"), "failed", failed.Code)
	}
	var sources []struct {
		Title string `json:"title"`
		URL   string `json:"url"`
	}
	if json.Unmarshal(r.Content, &sources) != nil {
		return ""
	}
	var lines []string
	for _, s := range sources[:min(len(sources), endpoint.MaxSources)] {
		if s.URL != "" {
			lines = append(lines, strings.TrimSpace(endpoint.Short(s.Title)+" "+endpoint.Short(s.URL)))
		}
	}
	return strings.Join(lines, "\n")
}
