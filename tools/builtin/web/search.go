package web

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"jcode/internal/htmltext"
	"jcode/internal/text"
	"jcode/tools"
)

//go:embed search.md
var webSearchText string

// The limits of a web search.
const (
	mostFound     = 10  // results
	maxQuery      = 400 // characters; the engines refuse longer ones
	maxFoundTitle = 200 // bytes
	maxSnippet    = 500 // bytes
)

// SearchOptions are the settings of the web search tool.
type SearchOptions struct {
	// Engine is one of SearchEngines.
	Engine string
	// Address replaces the engine's own address; for searxng it is required.
	Address string
	// KeyEnv is the name of the variable that Key was read from, for error messages.
	KeyEnv, Key string
	// Fetch are the settings by which addresses are judged and fetched.
	Fetch FetchOptions
}

// Search returns the web search tool, or an error that says what is wrong with the options.
func Search(o SearchOptions) (tools.Tool, error) {
	e, ok := searchEngines[o.Engine]
	if !ok {
		return nil, fmt.Errorf("there is no engine %q: say %s", o.Engine, strings.Join(SearchEngines(), ", "))
	}
	if o.Address == "" {
		o.Address = e.address
	}
	if o.Address == "" {
		return nil, fmt.Errorf("the engine %s needs the address of a server", o.Engine)
	}
	if e.needsKey && o.Key == "" {
		return nil, fmt.Errorf("the engine %s needs a key: set %s", o.Engine, o.KeyEnv)
	}
	u, err := address(o.Address)
	if err != nil {
		return nil, err
	}
	return searchTool{opts: o, engine: e, at: u, fetch: Fetch(o.Fetch).(fetchTool)}, nil
}

type searchTool struct {
	opts   SearchOptions
	engine searchEngine
	at     *url.URL
	fetch  fetchTool
}

type searchArgs struct {
	Query string `json:"query"`
	Count int    `json:"count"`
}

// Found is a result of a web search.
type Found struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet,omitempty"`
}

// Spec implements tools.Tool.
func (t searchTool) Spec() tools.Spec {
	return tools.Spec{
		Name: "web_search", Description: strings.TrimSpace(webSearchText), Group: tools.GroupBuiltin, ReadOnly: true, Trusted: true, Needs: tools.CapHTTP,
		Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"count":{"type":"integer","minimum":1,"maximum":10,"description":"results at most, default 10"}},"required":["query"]}`),
		Aliases:    map[string]string{"q": "query", "search": "query", "limit": "count"},
	}
}

func (t searchTool) decode(call tools.Call) (a searchArgs, err error) {
	if err := call.Decode(&a); err != nil {
		return a, err
	}
	a.Query = text.OneLine(a.Query)
	switch {
	case strings.TrimSpace(a.Query) == "":
		return a, tools.Errorf(tools.KindInvalidArgs, "query is empty: say what you look for")
	case len([]rune(a.Query)) > maxQuery:
		return a, tools.Errorf(tools.KindInvalidArgs, "query has more than %d characters: use fewer words", maxQuery)
	}
	if a.Count <= 0 || a.Count > mostFound {
		a.Count = mostFound
	}
	return a, nil
}

// Plan implements tools.Planner: a search is a fetch of the engine's address, and reveals the
// query to it.
func (t searchTool) Plan(_ context.Context, call tools.Call) (tools.Plan, error) {
	a, err := t.decode(call)
	if err != nil {
		return tools.Plan{}, err
	}
	plan := planFetch(t.at, false)
	plan.Summary = fmt.Sprintf("Search the web (%s): %s", t.opts.Engine, text.Brief(a.Query))
	return plan, nil
}

// Run implements tools.Tool.
func (t searchTool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	a, err := t.decode(call)
	if err != nil {
		return tools.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	f := &fetching{tool: t.fetch, call: call, allowed: map[string]bool{}}
	f.request = func(ctx context.Context, u *url.URL) (*http.Request, error) {
		req, err := t.engine.request(ctx, u, t.opts.Key, a)
		if err == nil {
			req.Header.Set("Accept", "application/json")
		}
		return req, err
	}
	f.allow(t.at, false)
	defer f.close()
	resp, err := f.get(ctx, t.at) //nolint:bodyclose // readPage does
	if err != nil {
		return tools.Result{}, fetchError(ctx, err)
	}
	got, err := readPage(resp, t.at)
	if err != nil {
		return tools.Result{}, fetchError(ctx, err)
	}
	if err := t.refused(got); err != nil {
		return tools.Result{}, err
	}
	found, err := t.engine.read(got.body)
	if err != nil || got.cut {
		return tools.Result{}, tools.Errorf(tools.KindIO, "%s answered with something else than results: tell the user to check web_search.url", t.at.Host)
	}
	return foundResult(found[:min(len(found), a.Count)]), nil
}

// refused returns the error for an unsuccessful response, which says what to do, or that the person
// must do something.
func (t searchTool) refused(got page) error {
	host := t.at.Host
	switch {
	case got.code == http.StatusOK:
		return nil
	case got.code == http.StatusTooManyRequests:
		return tools.Errorf(tools.KindIO, "%s allows no more searches for now (%s): wait, or continue without", host, got.status)
	case t.engine.needsKey && (got.code == http.StatusUnauthorized || got.code == http.StatusForbidden):
		return tools.Errorf(tools.KindIO, "%s refused the key in %s (%s): tell the user", host, t.opts.KeyEnv, got.status)
	case t.opts.Engine == "searxng" && got.code == http.StatusForbidden:
		return tools.Errorf(tools.KindIO, "%s returns no results as JSON (%s): tell the user to add json to search.formats in its settings.yml", host, got.status)
	case got.code >= 300 && got.code < 400:
		return tools.Errorf(tools.KindIO, "%s sends searches elsewhere (%s), where they are not sent: tell the user to check web_search.url", host, got.status)
	}
	said := text.Truncate(text.OneLine(text.Clean(string(got.body))), 200, "…")
	return tools.Errorf(tools.KindIO, "%s answered %s: %s", host, got.status, said)
}

// foundResult returns the tool's result. Texts from pages are limited in size and put on one
// line.
func foundResult(found []Found) tools.Result {
	var b strings.Builder
	for i := range found {
		f := &found[i]
		f.Title = text.Truncate(text.OneLine(htmltext.Plain([]byte(f.Title))), maxFoundTitle, "…")
		f.Snippet = text.Truncate(text.OneLine(htmltext.Plain([]byte(f.Snippet))), maxSnippet, "…")
		f.URL = text.Visible(f.URL)
		fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, f.Title, f.URL)
		if f.Snippet != "" {
			b.WriteString("   " + f.Snippet + "\n")
		}
	}
	if len(found) == 0 {
		b.WriteString("Nothing was found: try other words, or fewer.")
		found = []Found{}
	}
	return tools.Result{
		Text: strings.TrimSpace(b.String()), Data: map[string]any{"results": found},
		Display: tools.Display{Summary: text.Count(len(found), "result")},
	}
}
