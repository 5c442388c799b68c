package provider_test

import (
	"testing"

	"jcode/agent/model/catalogue"
	"jcode/agent/model/provider"
)

func TestSmallModelIsTheCheapestOfTheSameMakerThatIsKnown(t *testing.T) {
	of := func(name string) provider.Config {
		for _, p := range (provider.Settings{}).Known() {
			if p.Name == name {
				return p
			}
		}
		t.Fatalf("no provider %s", name)
		return provider.Config{}
	}
	for _, c := range []struct{ provider, id, want string }{
		{"openai", "gpt-6-sol", "gpt-5-nano"},
		{"anthropic", "claude-opus-5-5", "claude-haiku-5-5"},
		{"gemini", "gemini-3.1-pro", "gemini-2.5-flash-lite"},
		{"xai", "grok-4.7", "grok-4-fast"},
		{"mistral", "devstral", "devstral-small"},
		{"anthropic", "claude-haiku-5-5", ""},
		{"anthropic", "claude-unheard-of", ""}, // nothing cheaper; the price is unknown
		{"openrouter", "anthropic/claude-opus-5-5", ""},
		{"bedrock", "us.anthropic.claude-opus-5-5", ""},
		{"vertex", "claude-opus-5-5", ""},
		{"ollama", "qwen3-coder", ""},
	} {
		if got := of(c.provider).Small(c.id); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.provider, c.id, got, c.want)
		}
	}
	gateway := of("anthropic")
	gateway.BaseURL = "https://gateway.example.com/v1"
	if got := gateway.Small("claude-opus-5-5"); got != "" {
		t.Errorf("at an address that is not the maker's own: %q", got)
	}
	own := of("openai")
	own.Models = map[string]catalogue.Info{"gpt-tiny": {Window: 1000, Input: 0.001, Output: 0.001}, "tiny": {Window: 1000, Input: 0.0001, Output: 0.0001}}
	if got := own.Small("gpt-6-sol"); got != "gpt-tiny" {
		t.Errorf("with models of one's own: %q", got)
	}
}
