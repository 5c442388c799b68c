package provider

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jcode/internal/launch"
)

// Settings are everything that decides which endpoint and model are used. The caller has
// already chosen between flag, environment and config where several set the same.
type Settings struct {
	// Model is what -m, JCODE_MODEL or config names; may be empty.
	Model string
	// BaseURL is --base-url or OPENAI_BASE_URL: an endpoint that gets Model unchanged.
	BaseURL string
	// Provider is config's default provider, for models without one; may be empty.
	Provider string
	// Providers are config's own providers and its changes to presets, by name.
	Providers map[string]Config
	// Keys are stored keys by provider name.
	Keys map[string]string
	// Entered are the keys that the person entered in this run, by provider name. They take precedence over the
	// environment.
	Entered map[string]string
	// Env reads an environment variable.
	Env func(string) string
	// Limits apply to providers that have none of their own.
	Limits Limits
	// Programs starts the commands that write keys.
	Programs launch.Programs
	// Permit returns why an endpoint, or a model there, may not be used. id is empty if none was named. Nil permits all.
	Permit func(p Config, id string) error
}

// Target is the endpoint and the model that Settings resolve to.
type Target struct {
	Provider Config
	// Model is empty when none was named: use the first coding model of the provider's list (FirstModel).
	Model string
	// Replay is the script's file for `replay:FILE`; Provider is empty then.
	Replay string
}

// ErrNoProvider is returned when nothing is configured; the first-run screen, or advice on what to set,
// follows.
var ErrNoProvider = errors.New("no model is configured: set OPENAI_API_KEY (or the key of another provider), or OPENAI_BASE_URL for a server of your own, or name one with -m provider/model")

// ErrNoKey is returned when the provider is known but its key is not.
var ErrNoKey = errors.New("no key")

// Resolve finds the endpoint. An error other than ErrNoProvider and ErrNoKey says what is wrong and how to
// fix it.
func Resolve(s Settings) (Target, error) {
	t, err := resolve(s)
	if err != nil || s.Permit == nil {
		return t, err
	}
	if err := s.Permit(t.Provider, t.Model); err != nil {
		return Target{}, err
	}
	return t, nil
}

func resolve(s Settings) (Target, error) {
	if file, ok := strings.CutPrefix(s.Model, "replay:"); ok {
		if file == "" {
			return Target{}, fmt.Errorf("replay: needs a file, as in replay:script.jsonl")
		}
		return Target{Replay: file, Model: s.Model}, nil
	}
	if s.BaseURL != "" {
		if err := CheckURL(s.BaseURL); err != nil {
			return Target{}, err
		}
		p := Config{BaseURL: s.BaseURL, KeyEnv: "OPENAI_API_KEY"}
		for _, known := range s.all() {
			if strings.TrimRight(known.BaseURL, "/") == strings.TrimRight(s.BaseURL, "/") {
				p = known
			}
		}
		if s.key(p) == "" && s.Env != nil {
			p.Key = Secret(strings.TrimSpace(s.Env("OPENAI_API_KEY")))
		}
		p.Local = true // whoever sets an address knows whether it needs a key
		return s.target(p, s.Model)
	}
	if name, id, ok := strings.Cut(s.Model, "/"); ok { // without an ID: the first coding model
		if p, ok := s.find(name); ok && (s.Provider == "" || s.Provider == name || !routes(s.Provider)) {
			return s.target(p, id)
		}
	}
	return s.withoutProvider()
}

// routes recognises providers whose model IDs themselves begin with a provider's name.
func routes(provider string) bool {
	return provider == "openrouter" || provider == "together" || provider == "groq"
}

// withoutProvider resolves a model ID without a provider, or no ID at all.
func (s Settings) withoutProvider() (Target, error) {
	if s.Provider != "" {
		p, ok := s.find(s.Provider)
		if !ok {
			return Target{}, fmt.Errorf("unknown provider %q; there are %s", s.Provider, strings.Join(s.names(), ", "))
		}
		return s.target(p, s.Model)
	}
	if name, ok := maker(s.Model); ok {
		if p, ok := s.find(name); ok && (s.hasKey(p) || !s.anyKey()) {
			return s.target(p, s.Model)
		}
	}
	name, _, hasSlash := strings.Cut(s.Model, "/")
	for _, p := range s.all() {
		if s.hasKey(p) && (!hasSlash || routes(p.Name)) {
			return s.target(p, s.Model)
		}
	}
	for _, name := range s.names() { // a provider that config added needs no key
		if c, own := s.Providers[name]; own && c.BaseURL != "" && !hasSlash {
			p, _ := s.find(name)
			return s.target(p, s.Model)
		}
	}
	if hasSlash {
		return Target{}, fmt.Errorf("unknown provider %q in %q; there are %s", name, s.Model, strings.Join(s.names(), ", "))
	}
	return Target{}, ErrNoProvider
}

// maker guesses the provider of a well-known model ID.
func maker(id string) (string, bool) {
	for prefix, name := range map[string]string{
		"gpt-": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "chatgpt": "openai", "codex": "openai",
		"claude": "anthropic", "gemini": "gemini", "deepseek-": "deepseek", "grok": "xai",
		"mistral": "mistral", "devstral": "mistral", "codestral": "mistral", "magistral": "mistral",
	} {
		if strings.HasPrefix(id, prefix) && !strings.HasPrefix(id, "gpt-oss") && !strings.Contains(id, ":") {
			return name, true
		}
	}
	return "", false
}

// target adds a provider's key.
func (s Settings) target(p Config, id string) (Target, error) {
	p.Key, p.Token = s.key(p), s.token(p)
	p.Programs, p.Getenv = s.Programs, s.env()
	if err := p.fill(); err != nil {
		return Target{}, fmt.Errorf("provider %s: %w", p.Name, err)
	}
	id = p.onVertex(id)
	if p.Limits == (Limits{}) {
		p.Limits = s.Limits
	}
	if err := CheckURL(p.BaseURL); err != nil {
		return Target{}, fmt.Errorf("provider %q: %w", p.Name, err)
	}
	if p.Key == "" && p.Token == "" && p.KeyEnv != "" && !p.Local && len(p.Headers["Authorization"]) == 0 && len(p.KeyCommand) == 0 && p.Cloud != Bedrock {
		return Target{}, fmt.Errorf("provider %s: %w: set %s", p.Name, ErrNoKey, p.KeyEnv)
	}
	return Target{Provider: p, Model: id}, nil
}

// key finds a provider's key: config's own, the one just entered, the environment's, the
// stored one. A command that writes it goes before all of them.
func (s Settings) key(p Config) Secret {
	if p.Key != "" || len(p.KeyCommand) > 0 {
		return p.Key
	}
	if k := strings.TrimSpace(s.Entered[p.Name]); k != "" {
		return Secret(k)
	}
	if p.KeyEnv != "" && s.Env != nil {
		if k := strings.TrimSpace(s.Env(p.KeyEnv)); k != "" {
			return Secret(k)
		}
	}
	return Secret(strings.TrimSpace(s.Keys[p.Name]))
}

// token finds a provider's bearer token.
func (s Settings) token(p Config) Secret {
	if p.Token == "" && p.TokenEnv != "" && s.Env != nil {
		return Secret(strings.TrimSpace(s.Env(p.TokenEnv)))
	}
	return p.Token
}

// hasKey reports whether a provider can be asked without another word. A cloud must be named: it needs more than a key.
func (s Settings) hasKey(p Config) bool {
	return p.Cloud == "" && (s.key(p) != "" || s.token(p) != "")
}

// env returns what reads the environment.
func (s Settings) env() func(string) string {
	if s.Env == nil {
		return func(string) string { return "" }
	}
	return s.Env
}

func (s Settings) anyKey() bool {
	return slices.ContainsFunc(s.all(), s.hasKey)
}

// all returns the presets with config's changes, then config's own by name.
func (s Settings) all() []Config {
	out := Presets()
	known := map[string]bool{}
	for i := range out {
		known[out[i].Name] = true
		out[i].BaseURL = cmp.Or(s.addressOf(out[i].Name), out[i].BaseURL)
		if c, ok := s.Providers[out[i].Name]; ok {
			out[i] = out[i].override(c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Providers)) {
		if c := s.Providers[name]; !known[name] {
			if i := slices.IndexFunc(out, func(p Config) bool { return p.Name == c.Preset }); i >= 0 && known[c.Preset] {
				c = out[i].override(c)
			}
			c.Name = name
			out = append(out, c)
		}
	}
	return out
}

// addressOf returns the address that a maker's own tools read from the environment.
func (s Settings) addressOf(name string) string {
	if name == "anthropic" && s.Env != nil {
		return strings.TrimSpace(s.Env("ANTHROPIC_BASE_URL"))
	}
	return ""
}

// Known returns every provider that can be named: the presets with config's changes, and config's own. Keys
// are omitted.
func (s Settings) Known() []Config {
	all := s.all()
	for i := range all {
		all[i].Key, all[i].Token = "", ""
	}
	return all
}

func (s Settings) find(name string) (Config, bool) {
	for _, p := range s.all() {
		if p.Name == name {
			return p, true
		}
	}
	return Config{}, false
}

func (s Settings) names() []string {
	var out []string
	for _, p := range s.all() {
		out = append(out, p.Name)
	}
	return out
}
