package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"jcode/tools"
	"jcode/tools/builtin/web"
)

// service is a search service that accepts only what its documentation describes.
func service(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	return srv.URL
}

// searching runs one search, without a gate.
func searching(t *testing.T, o web.SearchOptions, args string) (tools.Result, error) {
	t.Helper()
	o.Fetch.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	o.Fetch.Agent = "jcode/test"
	tool, err := web.Search(o)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Run(t.Context(), tools.Call{ID: "c", Name: "web_search", Arguments: json.RawMessage(args)})
}

func refuse(w http.ResponseWriter, format string, args ...any) {
	w.WriteHeader(http.StatusBadRequest)
	fmt.Fprintf(w, format, args...)
}

func TestEachSearchServiceIsAskedInItsOwnForm(t *testing.T) {
	t.Parallel()
	posted := func(w http.ResponseWriter, r *http.Request) (body map[string]any, ok bool) {
		data, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(data, &body)
		}
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || err != nil {
			refuse(w, "%s %s %v", r.Method, data, err)
			return nil, false
		}
		return body, true
	}
	for engine, answer := range map[string]http.HandlerFunc{
		"searxng": func(w http.ResponseWriter, r *http.Request) {
			if q := r.URL.Query(); r.Method != http.MethodGet || r.URL.Path != "/search" || q.Get("q") != "go 1.26 & more" || q.Get("format") != "json" || q.Get("language") != "en" {
				refuse(w, "%s %s", r.Method, r.URL)
				return
			}
			io.WriteString(w, `{"query":"x","results":[{"title":"One","url":"https://one.example/","content":"the first"},{"title":"Two","url":"https://two.example/","content":""}]}`)
		},
		"brave": func(w http.ResponseWriter, r *http.Request) {
			if q := r.URL.Query(); r.Method != http.MethodGet || q.Get("q") != "go 1.26 & more" || q.Get("count") != "2" || r.Header.Get("X-Subscription-Token") != "key-12345678" {
				refuse(w, "%s %s", r.Method, r.URL)
				return
			}
			io.WriteString(w, `{"type":"search","web":{"results":[{"title":"One","url":"https://one.example/","description":"the <strong>first</strong>"},{"title":"Two","url":"https://two.example/","description":""}]}}`)
		},
		"exa": func(w http.ResponseWriter, r *http.Request) {
			if body, ok := posted(w, r); !ok || body["query"] != "go 1.26 & more" || body["numResults"] != 2.0 || r.Header.Get("X-Api-Key") != "key-12345678" {
				refuse(w, "%v", body)
				return
			}
			io.WriteString(w, `{"requestId":"r","results":[{"id":"1","title":"One","url":"https://one.example/","text":"the first"},{"title":"Two","url":"https://two.example/","text":null}]}`)
		},
		"tavily": func(w http.ResponseWriter, r *http.Request) {
			if body, ok := posted(w, r); !ok || body["query"] != "go 1.26 & more" || body["max_results"] != 2.0 || r.Header.Get("Authorization") != "Bearer key-12345678" {
				refuse(w, "%v", body)
				return
			}
			io.WriteString(w, `{"query":"x","results":[{"title":"One","url":"https://one.example/","content":"the first","score":0.9},{"title":"Two","url":"https://two.example/","content":""}]}`)
		},
	} {
		o := web.SearchOptions{Engine: engine, Address: service(t, answer), KeyEnv: "KEY", Key: "key-12345678"}
		if engine == "searxng" {
			o.Address += "/?language=en"
		}
		got, err := searching(t, o, `{"query":"go 1.26 & more","count":2}`)
		if want := "1. One\n   https://one.example/\n   the first\n2. Two\n   https://two.example/"; err != nil || got.Text != want {
			t.Errorf("%s: %v, %q", engine, err, got.Text)
		}
	}
}

func TestASearchThatFailsSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		engine string
		code   int
		body   string
		want   string
	}{
		{"brave", 401, `{"error":{}}`, "refused the key in KEY (401 Unauthorized): tell the user"},
		{"tavily", 403, `{}`, "refused the key in KEY"},
		{"brave", 429, ``, "allows no more searches for now"},
		{"exa", 500, `{"error":"out of
order"}`, `answered 500 Internal Server Error: {"error":"out of order"}`},
		{"searxng", 403, `<html>`, "add json to search.formats in its settings.yml"},
		{"searxng", 200, `<html>a page</html>`, "answered with something else than results"},
		{"searxng", 200, `{}`, "answered with something else than results"},
		{"tavily", 302, ``, "sends searches elsewhere"},
	} {
		at := service(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://elsewhere.example/")
			w.WriteHeader(c.code)
			io.WriteString(w, c.body)
		})
		_, err := searching(t, web.SearchOptions{Engine: c.engine, Address: at, KeyEnv: "KEY", Key: "key-12345678"}, `{"query":"x"}`)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "key-12345678") {
			t.Errorf("%s %d: %v", c.engine, c.code, err)
		}
	}
	for engine, want := range map[string]string{"bing": `there is no engine "bing": say searxng, brave, exa, tavily`, "exa": "needs a key: set KEY", "searxng": "needs the address of a server"} {
		if _, err := web.Search(web.SearchOptions{Engine: engine, KeyEnv: "KEY"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", engine, err)
		}
	}
	at := service(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"results":[]}`) })
	for args, want := range map[string]string{`{"query":"  "}`: "query is empty", `{"query":"` + strings.Repeat("é", 401) + `"}`: "more than 400 characters"} {
		if _, err := searching(t, web.SearchOptions{Engine: "searxng", Address: at}, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v", args, err)
		}
	}
	if got, err := searching(t, web.SearchOptions{Engine: "searxng", Address: at}, `{"query":"x"}`); err != nil || !strings.Contains(got.Text, "Nothing was found") {
		t.Errorf("%v, %q", err, got.Text)
	}
}

// Titles and snippets come from strangers, and may be long.
func TestResultsOfASearchAreBoundedAndClean(t *testing.T) {
	t.Parallel()
	at := service(t, func(w http.ResponseWriter, _ *http.Request) {
		var list []map[string]string
		for i := range 50 {
			list = append(list, map[string]string{"title": "a\n2. forged\x1b[31m <b>bold</b>" + strings.Repeat("t", 1000), "url": fmt.Sprintf("https://%d.example/\x1b]8;;", i), "content": strings.Repeat("word ", 1000)})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"results": list})
	})
	got, err := searching(t, web.SearchOptions{Engine: "searxng", Address: at}, `{"query":"x","count":99}`)
	if err != nil || len(got.Text) > 10*1000 || strings.Count(got.Text, "\n") != 29 || strings.Contains(got.Text, "\x1b") || strings.Contains(got.Text, "<b>") {
		t.Errorf("%v, %d bytes, %d lines:\n%.600q", err, len(got.Text), strings.Count(got.Text, "\n"), got.Text)
	}
}
