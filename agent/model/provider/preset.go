package provider

import "strings"

// Presets returns the providers that jcode knows by name, in the order in which one is picked when none is
// named. Config may change them and add others.
func Presets() []Config {
	coders := []string{"qwen3-coder", "qwen2.5-coder", "devstral", "gpt-oss", "glm", "deepseek", "codestral", "qwen3"}
	return []Config{
		{
			Name: "openai", BaseURL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY", Protocol: Responses,
			Prefer: []string{"gpt-5.6", "gpt-5.5", "gpt-5.2", "gpt-5.1", "gpt-5", "gpt-4.1"},
			Quirks: Quirks{MaxCompletionTokens: new(true), CappedCallIDs: new(true)},
		},
		{
			Name: "anthropic", BaseURL: "https://api.anthropic.com/v1", KeyEnv: "ANTHROPIC_API_KEY",
			TokenEnv: "ANTHROPIC_AUTH_TOKEN", Protocol: Messages,
			KeyHeader: "X-Api-Key", Headers: map[string]string{"Anthropic-Version": "2023-06-01"}, // its list of models wants both
			Prefer: []string{"claude-sonnet-5", "claude-sonnet", "claude-opus"},
		},
		{
			Name: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", KeyEnv: "GEMINI_API_KEY",
			Prefer: []string{"gemini-3.1-pro", "gemini-3.8-flash", "gemini-3", "gemini-2.5-pro"},
			Quirks: Quirks{SimpleSchemas: new(true)},
		},
		{
			Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", KeyEnv: "OPENROUTER_API_KEY",
			Prefer:  []string{"anthropic/claude-sonnet", "openai/gpt-5"},
			Headers: map[string]string{"X-Title": "jcode"},
			Quirks:  Quirks{CacheMarkers: []string{"anthropic/"}},
		},
		{
			Name: "groq", BaseURL: "https://api.groq.com/openai/v1", KeyEnv: "GROQ_API_KEY",
			Prefer: []string{"openai/gpt-oss-120b", "moonshotai/kimi", "qwen/"},
		},
		{
			Name: "deepseek", BaseURL: "https://api.deepseek.com/v1", KeyEnv: "DEEPSEEK_API_KEY",
			Prefer: []string{"deepseek-v4-pro", "deepseek-chat"},
		},
		{
			Name: "mistral", BaseURL: "https://api.mistral.ai/v1", KeyEnv: "MISTRAL_API_KEY",
			Prefer: []string{"devstral", "mistral-medium", "codestral"},
			Quirks: Quirks{ShortCallIDs: new(true), AlternateTurns: new(true)},
		},
		{
			Name: "xai", BaseURL: "https://api.x.ai/v1", KeyEnv: "XAI_API_KEY", Protocol: Responses,
			Prefer: []string{"grok-4.7", "grok-code", "grok-4"},
		},
		{
			Name: "together", BaseURL: "https://api.together.xyz/v1", KeyEnv: "TOGETHER_API_KEY",
			Prefer: []string{"Qwen/Qwen3-Coder", "deepseek-ai/", "moonshotai/"},
		},
		{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Local: true, Prefer: coders},
		{Name: "lmstudio", BaseURL: "http://127.0.0.1:1234/v1", Local: true, Prefer: coders},
		{Name: "llamacpp", BaseURL: "http://127.0.0.1:8080/v1", KeyEnv: "LLAMA_API_KEY", Local: true, Prefer: coders},
		{Name: "vllm", BaseURL: "http://127.0.0.1:8000/v1", KeyEnv: "VLLM_API_KEY", Local: true, Prefer: coders},
	}
}

// override applies what config says about a provider to its preset.
func (p Config) override(c Config) Config {
	set := func(to *string, v string) {
		if v != "" {
			*to = v
		}
	}
	if c.BaseURL != "" && strings.TrimRight(c.BaseURL, "/") != strings.TrimRight(p.BaseURL, "/") {
		p.Protocol = Chat // a user's own address speaks this unless config says otherwise
	}
	if c.Protocol != "" {
		p.Protocol = c.Protocol
	}
	set(&p.BaseURL, c.BaseURL)
	set(&p.TokenEnv, c.TokenEnv)
	set(&p.Cache, c.Cache)
	p.Search = p.Search || c.Search
	set(&p.KeyEnv, c.KeyEnv)
	set(&p.KeyHeader, c.KeyHeader)
	if c.Key != "" {
		p.Key = c.Key
	}
	p.Headers = merged(p.Headers, c.Headers)
	p.ExtraBody = merged(p.ExtraBody, c.ExtraBody)
	p.Models = merged(p.Models, c.Models)
	if len(c.Prefer) > 0 {
		p.Prefer = c.Prefer
	}
	p.Local = p.Local || c.Local
	p.Quirks = p.Quirks.with(c.Quirks)
	if c.Limits != (Limits{}) {
		p.Limits = c.Limits
	}
	return p
}

func (q Quirks) with(o Quirks) Quirks {
	set := func(to **bool, v *bool) {
		if v != nil {
			*to = v
		}
	}
	set(&q.DeveloperRole, o.DeveloperRole)
	set(&q.MaxCompletionTokens, o.MaxCompletionTokens)
	set(&q.NoStreamOptions, o.NoStreamOptions)
	set(&q.Strict, o.Strict)
	set(&q.SimpleSchemas, o.SimpleSchemas)
	set(&q.NoTemperature, o.NoTemperature)
	set(&q.NoImages, o.NoImages)
	set(&q.ReasoningBack, o.ReasoningBack)
	set(&q.ThinkOpen, o.ThinkOpen)
	set(&q.CappedCallIDs, o.CappedCallIDs)
	set(&q.ShortCallIDs, o.ShortCallIDs)
	set(&q.AlternateTurns, o.AlternateTurns)
	if o.CacheMarkers != nil {
		q.CacheMarkers = o.CacheMarkers
	}
	return q
}

func merged[V any](a, b map[string]V) map[string]V {
	if len(b) == 0 {
		return a
	}
	out := make(map[string]V, len(a)+len(b))
	for k, v := range a {
		out[k] = v
	}
	for k, v := range b {
		out[k] = v
	}
	return out
}
