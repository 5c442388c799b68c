package cli

import (
	"cmp"

	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/cli/health"
	"jcode/tools"
	"jcode/tools/builtin"
)

// webTools returns the tools that reach the web: fetch, and web_search where an engine is
// configured. An error says why web_search is missing.
func webTools(c config.WebSearch, std Streams, d *tools.Dispatcher) ([]tools.Tool, error) {
	fetch := builtin.FetchOptions{Judge: d.JudgeCall, Agent: "jcode/" + Version()}
	list := []tools.Tool{builtin.Fetch(fetch)}
	if c.Engine == "" {
		return list, nil
	}
	search, err := builtin.WebSearch(searchOptions(c, std, fetch))
	if err != nil {
		return list, err
	}
	return append(list, search), nil
}

func searchOptions(c config.WebSearch, std Streams, fetch builtin.FetchOptions) builtin.WebSearchOptions {
	o := builtin.WebSearchOptions{Engine: c.Engine, Address: c.URL, KeyEnv: searchKeyEnv(c), Fetch: fetch}
	if o.KeyEnv != "" {
		o.Key = std.Getenv(o.KeyEnv)
	}
	return o
}

// searchKeyEnv names the variable with the key of the search service, "" for none.
func searchKeyEnv(c config.WebSearch) string {
	return cmp.Or(c.KeyEnv, builtin.SearchKeyEnv(c.Engine))
}

// checkWebSearch reports whether the configured search service can be asked. It sends no request.
func checkWebSearch(c config.WebSearch, std Streams, r *health.Report) {
	if c.Engine == "" {
		return
	}
	o := searchOptions(c, std, builtin.FetchOptions{})
	if _, err := builtin.WebSearch(o); err != nil {
		r.Fail("web search", "correct web_search in config.json", console.ExitUsage, "%v", err)
		return
	}
	key := ""
	if o.Key != "" {
		key = ", key from " + o.KeyEnv
	}
	r.OK("web search", "web_search asks %s%s", cmp.Or(c.URL, c.Engine), key)
}
