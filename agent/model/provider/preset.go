package provider

import (
	"cmp"
	"maps"
	"strings"
)

// Presets returns the providers that jcode knows by name, in the order in which one is picked when none is
// named. Config may change them and add others.
func Presets() []Config {
	coders := []string{"qwen3-coder", "qwen2.5-coder", "devstral", "gpt-oss", "glm", "deepseek", "codestral", "qwen3"}
	return []Config{
		{
			Name: "openai", BaseURL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY", Protocol: Responses,
			Prefer: []string{"gpt-5.6", "gpt-5.5", "gpt-5.2", "gpt-5.1", "gpt-5", "gpt-4.1"},
			Quirks: Quirks{MaxCompletionTokens: new(true), CappedCallIDs: new(true), AnswerSchemas: new(true)},
		},
		{
			Name: "anthropic", BaseURL: "https://api.anthropic.com/v1", KeyEnv: "ANTHROPIC_API_KEY",
			TokenEnv: "ANTHROPIC_AUTH_TOKEN", Protocol: Messages,
			KeyHeader: "X-Api-Key", Headers: map[string]string{"Anthropic-Version": "2023-06-01"}, // its list of models wants both
			Prefer: []string{"claude-sonnet-5", "claude-sonnet", "claude-opus"},
			Quirks: Quirks{AnswerSchemas: new(true)},
		},
		{
			Name: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta", KeyEnv: "GEMINI_API_KEY", Protocol: Gemini,
			Prefer: []string{"gemini-3.1-pro", "gemini-3.8-flash", "gemini-3", "gemini-2.5-pro"},
			Quirks: Quirks{AnswerSchemas: new(true), SimpleSchemas: new(true)}, // simple for its other address, which speaks chat completions
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
			Quirks: Quirks{ShortCallIDs: new(true), AlternateTurns: new(true), AnswerSchemas: new(true)},
		},
		{
			Name: "xai", BaseURL: "https://api.x.ai/v1", KeyEnv: "XAI_API_KEY", Protocol: Responses,
			Prefer: []string{"grok-4.7", "grok-code", "grok-4"},
			Quirks: Quirks{AnswerSchemas: new(true)},
		},
		{
			Name: "together", BaseURL: "https://api.together.xyz/v1", KeyEnv: "TOGETHER_API_KEY",
			Prefer: []string{"Qwen/Qwen3-Coder", "deepseek-ai/", "moonshotai/"},
		},
		{ // the model's ID is the name of a deployment
			Name: "azure", BaseURL: "${AZURE_OPENAI_ENDPOINT}/openai/v1", KeyEnv: "AZURE_OPENAI_API_KEY", KeyHeader: "Api-Key",
			Protocol: Responses, Cloud: Azure, Unlisted: true,
			Quirks: Quirks{MaxCompletionTokens: new(true), CappedCallIDs: new(true)},
		},
		{
			Name: "bedrock", BaseURL: "https://bedrock-runtime.${region}.amazonaws.com", KeyEnv: "AWS_BEARER_TOKEN_BEDROCK", Protocol: Messages, Cloud: Bedrock,
			Prefer: []string{"global.anthropic.claude-sonnet", "us.anthropic.claude-sonnet", "eu.anthropic.claude-sonnet", "apac.anthropic.claude-sonnet", "anthropic.claude-sonnet"},
		},
		{ // over Messages for Claude, otherwise over chat completions
			Name: "vertex", BaseURL: "https://${host}/v1/projects/${project}/locations/${region}", Cloud: Vertex, Unlisted: true,
			KeyCommand: []string{"gcloud", "auth", "print-access-token"},
		},
		{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Local: true, Prefer: coders},
		{Name: "lmstudio", BaseURL: "http://127.0.0.1:1234/v1", Local: true, Prefer: coders},
		{Name: "llamacpp", BaseURL: "http://127.0.0.1:8080/v1", KeyEnv: "LLAMA_API_KEY", Local: true, Prefer: coders},
		{Name: "vllm", BaseURL: "http://127.0.0.1:8000/v1", KeyEnv: "VLLM_API_KEY", Local: true, Prefer: coders},
	}
}

// override applies what config says about a provider to its preset.
func (p Config) override(c Config) Config {
	if c.BaseURL != "" && p.Cloud == "" && strings.TrimRight(c.BaseURL, "/") != strings.TrimRight(p.BaseURL, "/") {
		p.Protocol = Chat // a user's own address speaks this unless config says otherwise
		p.Quirks.AnswerSchemas = nil
	}
	if strings.Contains(c.BaseURL, "/deployments/{model}") {
		p.Protocol = Chat // the older form of Azure's address
	}
	p.Protocol = cmp.Or(c.Protocol, p.Protocol)
	p.BaseURL = cmp.Or(c.BaseURL, p.BaseURL)
	p.TokenEnv = cmp.Or(c.TokenEnv, p.TokenEnv)
	p.Cache = cmp.Or(c.Cache, p.Cache)
	p.Search = p.Search || c.Search
	p.KeyEnv = cmp.Or(c.KeyEnv, p.KeyEnv)
	p.Key = cmp.Or(c.Key, p.Key)
	if len(c.KeyCommand) > 0 {
		p.KeyCommand = c.KeyCommand
		if p.Cloud == Azure {
			p.KeyHeader = "" // what a command writes is a token of Entra
		}
	}
	p.KeyHeader = cmp.Or(c.KeyHeader, p.KeyHeader)
	p.Region, p.Project, p.Profile = cmp.Or(c.Region, p.Region), cmp.Or(c.Project, p.Project), cmp.Or(c.Profile, p.Profile)
	p.Headers = merged(p.Headers, c.Headers)
	p.ExtraBody = merged(p.ExtraBody, c.ExtraBody)
	p.Models = merged(p.Models, c.Models)
	if len(c.Prefer) > 0 {
		p.Prefer = c.Prefer
	}
	p.Local = p.Local || c.Local
	p.Quirks = p.Quirks.with(c.Quirks)
	p.Limits = cmp.Or(c.Limits, p.Limits)
	return p
}

func (q Quirks) with(o Quirks) Quirks {
	q.DeveloperRole = cmp.Or(o.DeveloperRole, q.DeveloperRole)
	q.MaxCompletionTokens = cmp.Or(o.MaxCompletionTokens, q.MaxCompletionTokens)
	q.NoStreamOptions = cmp.Or(o.NoStreamOptions, q.NoStreamOptions)
	q.Strict = cmp.Or(o.Strict, q.Strict)
	q.SimpleSchemas = cmp.Or(o.SimpleSchemas, q.SimpleSchemas)
	q.AnswerSchemas = cmp.Or(o.AnswerSchemas, q.AnswerSchemas)
	q.NoTemperature = cmp.Or(o.NoTemperature, q.NoTemperature)
	q.NoImages = cmp.Or(o.NoImages, q.NoImages)
	q.ReasoningBack = cmp.Or(o.ReasoningBack, q.ReasoningBack)
	q.ThinkOpen = cmp.Or(o.ThinkOpen, q.ThinkOpen)
	q.CappedCallIDs = cmp.Or(o.CappedCallIDs, q.CappedCallIDs)
	q.ShortCallIDs = cmp.Or(o.ShortCallIDs, q.ShortCallIDs)
	q.AlternateTurns = cmp.Or(o.AlternateTurns, q.AlternateTurns)
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
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
