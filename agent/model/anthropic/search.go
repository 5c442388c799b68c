package anthropic

import (
	"encoding/json"
	"fmt"
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
		var input struct {
			Query string `json:"query"`
			URL   string `json:"url"`
		}
		said := strings.TrimPrefix(endpoint.Short(b.inputJSON()), "{}")
		if json.Unmarshal([]byte(b.inputJSON()), &input) == nil && input.Query+input.URL != "" {
			said = endpoint.Short(strings.TrimSpace(input.Query + " " + input.URL))
		}
		if said == "" {
			return b.name + " ran at the provider"
		}
		return fmt.Sprintf("%s ran at the provider: %s", b.name, said)
	case strings.HasSuffix(b.kind, "_tool_result"):
		return found(b)
	}
	return ""
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
		return fmt.Sprintf("%s failed at the provider: %s", strings.TrimSuffix(b.kind, "_tool_result"), endpoint.Short(failed.Code))
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
