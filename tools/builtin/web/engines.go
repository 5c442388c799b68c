package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// searchEngine is a service that searches the web.
type searchEngine struct {
	address  string // of the service; "" if there is no public one
	keyEnv   string // the variable that usually contains its key
	needsKey bool
	request  func(ctx context.Context, u *url.URL, key string, a searchArgs) (*http.Request, error)
	read     func(body []byte) ([]Found, error)
}

var searchEngines = map[string]searchEngine{
	"brave": {
		address: "https://api.search.brave.com/res/v1/web/search", keyEnv: "BRAVE_API_KEY", needsKey: true,
		request: func(ctx context.Context, u *url.URL, key string, a searchArgs) (*http.Request, error) {
			return asking(ctx, u, url.Values{"q": {a.Query}, "count": {strconv.Itoa(a.Count)}}, "X-Subscription-Token", key)
		},
		read: func(body []byte) ([]Found, error) {
			var got struct {
				Web *struct{ Results []braveResult }
			}
			err := json.Unmarshal(body, &got)
			if err != nil || got.Web == nil {
				return nil, err // without a web part nothing was found
			}
			return foundIn(got.Web.Results), nil
		},
	},
	"exa": {
		address: "https://api.exa.ai/search", keyEnv: "EXA_API_KEY", needsKey: true,
		request: func(ctx context.Context, u *url.URL, key string, a searchArgs) (*http.Request, error) {
			return posting(ctx, u, map[string]any{"query": a.Query, "numResults": a.Count, "contents": map[string]any{"text": map[string]any{"maxCharacters": maxSnippet}}}, "X-Api-Key", key)
		},
		read: readResults[exaResult],
	},
	"tavily": {
		address: "https://api.tavily.com/search", keyEnv: "TAVILY_API_KEY", needsKey: true,
		request: func(ctx context.Context, u *url.URL, key string, a searchArgs) (*http.Request, error) {
			return posting(ctx, u, map[string]any{"query": a.Query, "max_results": a.Count}, "Authorization", "Bearer "+key)
		},
		read: readResults[contentResult],
	},
	"searxng": {
		request: func(ctx context.Context, u *url.URL, _ string, a searchArgs) (*http.Request, error) {
			at := *u
			if !strings.HasSuffix(at.Path, "/search") {
				at.Path = strings.TrimRight(at.Path, "/") + "/search"
			}
			return asking(ctx, &at, url.Values{"q": {a.Query}, "format": {"json"}}, "", "")
		},
		read: readResults[contentResult],
	},
}

// SearchEngines returns the names of the engines.
func SearchEngines() []string { return []string{"searxng", "brave", "exa", "tavily"} }

// SearchKeyEnv returns the variable that usually contains an engine's key, "" for none.
func SearchKeyEnv(engine string) string { return searchEngines[engine].keyEnv }

// errNoResults says that a response contains no search results.
var errNoResults = errors.New("no results in the answer")

// The engines' results, which name the snippet differently.
type (
	braveResult struct {
		Title, URL string
		Snippet    string `json:"description"`
	}
	exaResult struct {
		Title, URL string
		Snippet    string `json:"text"`
	}
	contentResult struct {
		Title, URL string
		Snippet    string `json:"content"`
	}
	engineResult interface {
		braveResult | exaResult | contentResult
	}
)

// readResults decodes a response that is a list of results.
func readResults[R engineResult](body []byte) ([]Found, error) {
	var got struct{ Results *[]R }
	if err := json.Unmarshal(body, &got); err != nil {
		return nil, err
	}
	if got.Results == nil {
		return nil, errNoResults
	}
	return foundIn(*got.Results), nil
}

func foundIn[R engineResult](list []R) []Found {
	var out []Found
	for _, r := range list {
		out = append(out, Found(r))
	}
	return out
}

func asking(ctx context.Context, u *url.URL, query url.Values, header, key string) (*http.Request, error) {
	at := *u
	for name, values := range at.Query() { // the parameters of the person's address
		if !query.Has(name) {
			query[name] = values
		}
	}
	at.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err == nil && header != "" {
		req.Header.Set(header, key)
	}
	return req, err
}

func posting(ctx context.Context, u *url.URL, body map[string]any, header, key string) (*http.Request, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(header, key)
	return req, nil
}
