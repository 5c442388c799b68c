package webcli

import (
	"cmp"

	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/cli/health"
	"jcode/tools"
	"jcode/tools/builtin/web"
)

// Tools returns the tools that reach the web: fetch, and web_search where an engine is
// configured. An error says why web_search is missing.
func Tools(c config.WebSearch, getenv func(string) string, fetch web.FetchOptions) ([]tools.Tool, error) {
	list := []tools.Tool{web.Fetch(fetch)}
	if c.Engine == "" {
		return list, nil
	}
	search, err := web.Search(searchOptions(c, getenv, fetch))
	if err != nil {
		return list, err
	}
	return append(list, search), nil
}

func searchOptions(c config.WebSearch, getenv func(string) string, fetch web.FetchOptions) web.SearchOptions {
	o := web.SearchOptions{Engine: c.Engine, Address: c.URL, KeyEnv: KeyEnv(c), Fetch: fetch}
	if o.KeyEnv != "" {
		o.Key = getenv(o.KeyEnv)
	}
	return o
}

// KeyEnv names the variable with the key of the search service, "" for none.
func KeyEnv(c config.WebSearch) string {
	return cmp.Or(c.KeyEnv, web.SearchKeyEnv(c.Engine))
}

// Check reports whether the configured search service can be asked. It sends no request.
func Check(c config.WebSearch, getenv func(string) string, r *health.Report) {
	if c.Engine == "" {
		return
	}
	o := searchOptions(c, getenv, web.FetchOptions{})
	if _, err := web.Search(o); err != nil {
		r.Fail("web search", "correct web_search in config.json", console.ExitUsage, "%v", err)
		return
	}
	key := ""
	if o.Key != "" {
		key = ", key from " + o.KeyEnv
	}
	r.OK("web search", "web_search asks %s%s", cmp.Or(c.URL, c.Engine), key)
}
