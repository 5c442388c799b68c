package model_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/internal/testkit/modeltest"
)

func TestResolveFindsTheEndpoint(t *testing.T) {
	keys := func(names ...string) func(string) string {
		return func(k string) string {
			for _, n := range names {
				if n == k {
					return "key-of-" + n
				}
			}
			return ""
		}
	}
	work := map[string]model.ProviderConfig{
		"work":   {BaseURL: "https://llm.example.com/v1", Headers: map[string]string{"Authorization": "x"}, KeyEnv: "WORK_KEY"},
		"openai": {Headers: map[string]string{"X-A": "b"}, Quirks: model.Quirks{DeveloperRole: new(true)}},
	}
	cases := map[string]struct {
		s    model.Settings
		want string // provider model key, or what the error says
	}{
		"nothing":                   {model.Settings{}, "no model is configured"},
		"replay":                    {model.Settings{Model: "replay:x.jsonl"}, "replay x.jsonl"},
		"replay without file":       {model.Settings{Model: "replay:"}, "needs a file"},
		"one key":                   {model.Settings{Env: keys("GROQ_API_KEY")}, "groq  key-of-GROQ_API_KEY"},
		"order of keys":             {model.Settings{Env: keys("GROQ_API_KEY", "ANTHROPIC_API_KEY")}, "anthropic  key-of-ANTHROPIC_API_KEY"},
		"preset":                    {model.Settings{Model: "deepseek/deepseek-chat", Env: keys("DEEPSEEK_API_KEY")}, "deepseek deepseek-chat key-of-DEEPSEEK_API_KEY"},
		"preset, nested":            {model.Settings{Model: "openrouter/anthropic/claude-x", Env: keys("OPENROUTER_API_KEY")}, "openrouter anthropic/claude-x key-of-OPENROUTER_API_KEY"},
		"preset without key":        {model.Settings{Model: "xai/grok-4", Env: keys()}, "set XAI_API_KEY"},
		"local needs no key":        {model.Settings{Model: "ollama/qwen3-coder:30b"}, "ollama qwen3-coder:30b "},
		"stored key":                {model.Settings{Model: "xai/grok-4", Keys: map[string]string{"xai": "stored"}}, "xai grok-4 stored"},
		"environment before stored": {model.Settings{Model: "xai/grok-4", Keys: map[string]string{"xai": "stored"}, Env: keys("XAI_API_KEY")}, "xai grok-4 key-of-XAI_API_KEY"},
		"base URL takes all":        {model.Settings{Model: "openai/gpt-oss", BaseURL: "http://127.0.0.1:9/v1", Env: keys("OPENAI_API_KEY")}, " openai/gpt-oss key-of-OPENAI_API_KEY"},
		"base URL, no key":          {model.Settings{Model: "x", BaseURL: "http://127.0.0.1:9/v1"}, " x "},
		"base URL of a preset":      {model.Settings{Model: "x", BaseURL: "https://api.deepseek.com/v1/", Env: keys("OPENAI_API_KEY")}, "deepseek x key-of-OPENAI_API_KEY"},
		"bad base URL":              {model.Settings{BaseURL: "localhost"}, "must begin with http"},
		"known maker":               {model.Settings{Model: "claude-sonnet-5", Env: keys("OPENAI_API_KEY", "ANTHROPIC_API_KEY")}, "anthropic claude-sonnet-5 key-of-ANTHROPIC_API_KEY"},
		"known maker, no key":       {model.Settings{Model: "gpt-5.2"}, "set OPENAI_API_KEY"},
		"known maker, other key":    {model.Settings{Model: "gpt-5.2", Env: keys("OPENROUTER_API_KEY")}, "openrouter gpt-5.2 key-of-OPENROUTER_API_KEY"},
		"unknown provider":          {model.Settings{Model: "nobody/x", Env: keys("OPENAI_API_KEY")}, `unknown provider "nobody"`},
		"a router takes slashes":    {model.Settings{Model: "moonshotai/kimi", Env: keys("OPENROUTER_API_KEY")}, "openrouter moonshotai/kimi key-of-OPENROUTER_API_KEY"},
		"default router":            {model.Settings{Model: "openai/gpt-5", Provider: "openrouter", Env: keys("OPENROUTER_API_KEY")}, "openrouter openai/gpt-5 key-of-OPENROUTER_API_KEY"},
		"default provider":          {model.Settings{Model: "m", Provider: "work", Providers: work}, "work m "},
		"default provider unknown":  {model.Settings{Model: "m", Provider: "nobody"}, "unknown provider"},
		"config's provider":         {model.Settings{Model: "work/a/b", Providers: work, Env: keys("WORK_KEY")}, "work a/b key-of-WORK_KEY"},
		"config's provider alone":   {model.Settings{Providers: work}, "work  "},
		"its first model":           {model.Settings{Model: "work/", Providers: work, Env: keys("WORK_KEY")}, "work  key-of-WORK_KEY"},
		"config changes a preset":   {model.Settings{Model: "openai/x", Providers: work, Env: keys("OPENAI_API_KEY")}, "openai x key-of-OPENAI_API_KEY"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := model.Resolve(c.s)
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
				return
			}
			have := fmt.Sprintf("%s %s %s", got.Provider.Name, got.Model, string(got.Provider.Key))
			if got.Replay != "" {
				have = "replay " + got.Replay
			}
			if have != c.want {
				t.Errorf("got %q, want %q", have, c.want)
			}
		})
	}
	if _, err := model.Resolve(model.Settings{}); !errors.Is(err, model.ErrNoProvider) {
		t.Error(err)
	}
	if _, err := model.Resolve(model.Settings{Model: "xai/x"}); !errors.Is(err, model.ErrNoKey) {
		t.Error(err)
	}
	got, err := model.Resolve(model.Settings{Model: "openai/x", Providers: work, Env: keys("OPENAI_API_KEY"), Limits: model.Limits{Attempts: 2}})
	if p := got.Provider; err != nil || !*p.Quirks.DeveloperRole || !*p.Quirks.MaxCompletionTokens || p.Headers["X-A"] != "b" || p.BaseURL == "" || p.Limits.Attempts != 2 {
		t.Errorf("%+v %v", got, err)
	}
}

func TestPresetsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range model.Presets() {
		if _, err := model.NewOpenAI(p); err != nil || seen[p.Name] || !p.Local && p.KeyEnv == "" {
			t.Errorf("%+v: %v", p, err)
		}
		seen[p.Name] = true
	}
	for _, name := range strings.Fields("openai openrouter anthropic gemini groq deepseek mistral xai together ollama lmstudio llamacpp vllm") {
		if !seen[name] {
			t.Errorf("preset %s is missing", name)
		}
	}
}

func TestModelListsOfEveryForm(t *testing.T) {
	cases := map[string]struct{ body, want string }{
		"openai":    {`{"object":"list","data":[{"id":"a","created":1.5},{"id":"b","created":"x"}]}`, "[{a 0} {b 0}]"},
		"windows":   {`{"data":[{"id":"a","context_length":1000},{"id":"b","max_model_len":2000},{"id":"c","meta":{"n_ctx_train":3000}},{"id":"d","context_window":4000,"x":[]}]}`, "[{a 1000} {b 2000} {c 3000} {d 4000}]"},
		"odd types": {`{"data":[{"id":"a","context_length":"many","meta":7},{"id":5},null,{"id":""}]}`, "[{a 0}]"},
		"bare list": {`[{"id":"a"}]`, "[{a 0}]"},
		"ollama":    {`{"models":[{"name":"a"}]}`, "[{a 0}]"},
		"empty":     {`{"data":[]}`, "[]"},
		"no list":   {`{"hello":1}`, "gives no list"},
		"web page":  {`<html><title>Hi</title>`, "a web page: Hi"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.body) }))
			defer srv.Close()
			list, err := newClient(t, srv.URL+"/v1").ListModels(t.Context())
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Error(err)
				}
				return
			}
			if fmt.Sprint(list) != c.want {
				t.Errorf("%v, want %s", list, c.want)
			}
		})
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }))
	defer srv.Close()
	if _, err := newClient(t, srv.URL).ListModels(t.Context()); classOf(t, err).Class != model.ClassAuth {
		t.Error(err)
	}
}

func TestFirstModelIsOneForCode(t *testing.T) {
	list := func(ids ...string) (out []model.Listed) {
		for _, id := range ids {
			out = append(out, model.Listed{ID: id})
		}
		return out
	}
	openai := model.Presets()[0]
	cases := []struct {
		p    model.ProviderConfig
		list []model.Listed
		want string
	}{
		{openai, list("text-embedding-3", "gpt-4.1", "gpt-5.2-image", "gpt-5.2", "whisper-1"), "gpt-5.2"},
		{model.ProviderConfig{}, list("embed", "llama", "qwen-coder"), "qwen-coder"},
		{model.ProviderConfig{}, list("embed", "llama"), "llama"},
		{model.ProviderConfig{Prefer: []string{"gemini-3"}}, list("models/gemini-2", "models/gemini-3-pro"), "models/gemini-3-pro"},
		{model.ProviderConfig{}, list("embed"), ""},
		{model.ProviderConfig{}, nil, ""},
	}
	for _, c := range cases {
		got, ok := model.FirstModel(c.p, c.list)
		if got.ID != c.want || ok != (c.want != "") {
			t.Errorf("%v: %q", c.list, got.ID)
		}
	}
}

func TestLocalServersAreFound(t *testing.T) {
	srv := modeltest.New(t)
	srv.Models("a", "b")
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	defer web.Close()
	began := time.Now()
	found := model.DetectLocal(context.Background(), []model.ProviderConfig{
		{Name: "silent", BaseURL: silent.URL, Local: true},
		{Name: "web", BaseURL: web.URL, Local: true},
		{Name: "up", BaseURL: srv.URL(), Local: true},
		{Name: "down", BaseURL: "http://127.0.0.1:1/v1", Local: true},
		{Name: "remote", BaseURL: srv.URL()},
		{Name: "bad", BaseURL: "x", Local: true},
	})
	if len(found) != 1 || found[0].Provider.Name != "up" || len(found[0].Models) != 2 {
		t.Errorf("%+v", found)
	}
	if time.Since(began) > 30*time.Second {
		t.Error("it took too long")
	}
}

func TestCatalogueKnowsModels(t *testing.T) {
	own := map[string]model.Info{"gpt-5.2": {Window: 1000}, "mine": {Window: 5, Input: 1, Output: 2}}
	for id, window := range map[string]int{
		"gpt-5.2": 1000, "gpt-5.2-codex": 400_000, "openai/gpt-5.2": 400_000, "anthropic/claude-opus-4-6": 1_000_000, "claude-opus-4-1": 200_000, "models/gemini-2.5-pro": 1_048_576,
		"qwen3-coder:30b": 262_144, "GPT-4o-2024": 128_000, "mine": 5, "nobody": 0,
	} {
		info, ok := model.Lookup(id, own)
		if info.Window != window || ok != (window > 0) {
			t.Errorf("%s: %+v %v", id, info, ok)
		}
	}
	info, _ := model.Lookup("gpt-5.2", own)
	if cost, ok := info.Cost(model.Usage{Input: 1_000_000, Cached: 400_000, Output: 100_000}); !ok || cost < 2.5199 || cost > 2.5201 {
		t.Errorf("cost %v", cost) // 0.6×1.75 + 0.4×0.175 + 0.1×14
	}
	if _, ok := (model.Info{}).Cost(model.Usage{Input: 1}); ok {
		t.Error("an unknown price gives a cost")
	}
}

func TestPresetsStandInTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range model.Presets() {
		if row := fmt.Sprintf("| `%s` | %s | ", p.Name, p.BaseURL); !strings.Contains(string(page), row) {
			t.Errorf("docs/models.md lacks %q", row)
		}
		if p.KeyEnv != "" && !strings.Contains(string(page), "`"+p.KeyEnv+"`") {
			t.Errorf("docs/models.md lacks %s", p.KeyEnv)
		}
	}
}
