package provider_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"jcode/agent/model/provider"
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
	work := map[string]provider.Config{
		"work":   {BaseURL: "https://llm.example.com/v1", Headers: map[string]string{"Authorization": "x"}, KeyEnv: "WORK_KEY"},
		"openai": {Headers: map[string]string{"X-A": "b"}, Quirks: provider.Quirks{DeveloperRole: new(true)}},
	}
	cases := map[string]struct {
		s    provider.Settings
		want string // "provider model key", or a part of the error
	}{
		"nothing":                   {provider.Settings{}, "no model is configured"},
		"replay":                    {provider.Settings{Model: "replay:x.jsonl"}, "replay x.jsonl"},
		"replay without file":       {provider.Settings{Model: "replay:"}, "needs a file"},
		"one key":                   {provider.Settings{Env: keys("GROQ_API_KEY")}, "groq  key-of-GROQ_API_KEY"},
		"order of keys":             {provider.Settings{Env: keys("GROQ_API_KEY", "ANTHROPIC_API_KEY")}, "anthropic  key-of-ANTHROPIC_API_KEY"},
		"preset":                    {provider.Settings{Model: "deepseek/deepseek-chat", Env: keys("DEEPSEEK_API_KEY")}, "deepseek deepseek-chat key-of-DEEPSEEK_API_KEY"},
		"preset, nested":            {provider.Settings{Model: "openrouter/anthropic/claude-x", Env: keys("OPENROUTER_API_KEY")}, "openrouter anthropic/claude-x key-of-OPENROUTER_API_KEY"},
		"preset without key":        {provider.Settings{Model: "xai/grok-4", Env: keys()}, "set XAI_API_KEY"},
		"local needs no key":        {provider.Settings{Model: "ollama/qwen3-coder:30b"}, "ollama qwen3-coder:30b "},
		"stored key":                {provider.Settings{Model: "xai/grok-4", Keys: map[string]string{"xai": "stored"}}, "xai grok-4 stored"},
		"environment before stored": {provider.Settings{Model: "xai/grok-4", Keys: map[string]string{"xai": "stored"}, Env: keys("XAI_API_KEY")}, "xai grok-4 key-of-XAI_API_KEY"},
		"base URL takes all":        {provider.Settings{Model: "openai/gpt-oss", BaseURL: "http://127.0.0.1:9/v1", Env: keys("OPENAI_API_KEY")}, " openai/gpt-oss key-of-OPENAI_API_KEY"},
		"base URL, no key":          {provider.Settings{Model: "x", BaseURL: "http://127.0.0.1:9/v1"}, " x "},
		"base URL of a preset":      {provider.Settings{Model: "x", BaseURL: "https://api.deepseek.com/v1/", Env: keys("OPENAI_API_KEY")}, "deepseek x key-of-OPENAI_API_KEY"},
		"bad base URL":              {provider.Settings{BaseURL: "localhost"}, "must begin with http"},
		"known maker":               {provider.Settings{Model: "claude-sonnet-5", Env: keys("OPENAI_API_KEY", "ANTHROPIC_API_KEY")}, "anthropic claude-sonnet-5 key-of-ANTHROPIC_API_KEY"},
		"known maker, no key":       {provider.Settings{Model: "gpt-5.2"}, "set OPENAI_API_KEY"},
		"known maker, other key":    {provider.Settings{Model: "gpt-5.2", Env: keys("OPENROUTER_API_KEY")}, "openrouter gpt-5.2 key-of-OPENROUTER_API_KEY"},
		"unknown provider":          {provider.Settings{Model: "nobody/x", Env: keys("OPENAI_API_KEY")}, `unknown provider "nobody"`},
		"a router takes slashes":    {provider.Settings{Model: "moonshotai/kimi", Env: keys("OPENROUTER_API_KEY")}, "openrouter moonshotai/kimi key-of-OPENROUTER_API_KEY"},
		"default router":            {provider.Settings{Model: "openai/gpt-5", Provider: "openrouter", Env: keys("OPENROUTER_API_KEY")}, "openrouter openai/gpt-5 key-of-OPENROUTER_API_KEY"},
		"default provider":          {provider.Settings{Model: "m", Provider: "work", Providers: work}, "work m "},
		"default provider unknown":  {provider.Settings{Model: "m", Provider: "nobody"}, "unknown provider"},
		"config's provider":         {provider.Settings{Model: "work/a/b", Providers: work, Env: keys("WORK_KEY")}, "work a/b key-of-WORK_KEY"},
		"config's provider alone":   {provider.Settings{Providers: work}, "work  "},
		"its first model":           {provider.Settings{Model: "work/", Providers: work, Env: keys("WORK_KEY")}, "work  key-of-WORK_KEY"},
		"config changes a preset":   {provider.Settings{Model: "openai/x", Providers: work, Env: keys("OPENAI_API_KEY")}, "openai x key-of-OPENAI_API_KEY"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := provider.Resolve(c.s)
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
	if _, err := provider.Resolve(provider.Settings{}); !errors.Is(err, provider.ErrNoProvider) {
		t.Error(err)
	}
	if _, err := provider.Resolve(provider.Settings{Model: "xai/x"}); !errors.Is(err, provider.ErrNoKey) {
		t.Error(err)
	}
	got, err := provider.Resolve(provider.Settings{Model: "openai/x", Providers: work, Env: keys("OPENAI_API_KEY"), Limits: provider.Limits{Attempts: 2}})
	if p := got.Provider; err != nil || !*p.Quirks.DeveloperRole || !*p.Quirks.MaxCompletionTokens || p.Headers["X-A"] != "b" || p.BaseURL == "" || p.Limits.Attempts != 2 {
		t.Errorf("%+v %v", got, err)
	}
}

func TestFirstModelIsOneForCode(t *testing.T) {
	list := func(ids ...string) (out []provider.Listed) {
		for _, id := range ids {
			out = append(out, provider.Listed{ID: id})
		}
		return out
	}
	openai := provider.Presets()[0]
	cases := []struct {
		p    provider.Config
		list []provider.Listed
		want string
	}{
		{openai, list("text-embedding-3", "gpt-4.1", "gpt-5.2-image", "gpt-5.2", "whisper-1"), "gpt-5.2"},
		{provider.Config{}, list("embed", "llama", "qwen-coder"), "qwen-coder"},
		{provider.Config{}, list("embed", "llama"), "llama"},
		{provider.Config{Prefer: []string{"gemini-3"}}, list("models/gemini-2", "models/gemini-3-pro"), "models/gemini-3-pro"},
		{provider.Config{}, list("embed"), ""},
		{provider.Config{}, nil, ""},
	}
	for _, c := range cases {
		got, ok := provider.FirstModel(c.p, c.list)
		if got.ID != c.want || ok != (c.want != "") {
			t.Errorf("%v: %q", c.list, got.ID)
		}
	}
}

func TestPresetsStandInTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range provider.Presets() {
		if row := fmt.Sprintf("| `%s` | %s | ", p.Name, p.BaseURL); !strings.Contains(string(page), row) {
			t.Errorf("docs/models.md lacks %q", row)
		}
		if p.KeyEnv != "" && !strings.Contains(string(page), "`"+p.KeyEnv+"`") {
			t.Errorf("docs/models.md lacks %s", p.KeyEnv)
		}
	}
}
