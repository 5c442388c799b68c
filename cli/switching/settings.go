package switching

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"jcode/agent/model/provider"
	"jcode/cli/config"
	"jcode/hooks"
	"jcode/internal/paths"
	"jcode/internal/text"
)

// own reads a file of jcode's settings; keys are looked for in any spelling.
func own(file string) object {
	data, err := paths.ReadFile(file, maxFile)
	if err != nil {
		return nil
	}
	value, err := hujson.Parse(data)
	if err != nil {
		return nil // writing it names the fault
	}
	value.Standardize()
	out := object{}
	if json.Unmarshal(value.Pack(), &out) != nil {
		return nil
	}
	return out
}

func has(o object, key string) (any, bool) {
	for name, value := range o {
		if text.LooseKey(name) == text.LooseKey(key) {
			return value, true
		}
	}
	return nil, false
}

// setting offers a setting that jcode's own file doesn't have.
func (f *finder) setting(key, value, from string) {
	file := f.settingsFile()
	if _, set := has(own(file), key); set {
		return
	}
	f.offer(Setting, key, from, fmt.Sprintf("set %s to %s", key, value), func(context.Context) error {
		if now, set := has(own(file), key); set {
			return fmt.Errorf("%s is %v already", key, now)
		}
		return config.Set(file, key, value)
	})
}

// model offers a model of a provider that jcode knows.
func (f *finder) model(maker, model, from string) {
	if model == "" {
		return
	}
	known := map[string]string{"google": "gemini", "google-vertex": "vertex", "amazon-bedrock": "bedrock", "z.ai": "zai"}
	if ours := known[maker]; ours != "" {
		maker = ours
	}
	switch {
	case !f.provides(maker):
		f.refuse(Setting, "model", from, "the provider %s of the model %s is not known here: add it to providers of config.json", maker, model)
	case maker == "anthropic" && !strings.Contains(model, "claude"):
		f.refuse(Setting, "model", from, "%s stands for a model that only Claude Code knows: choose one with /model", model)
	default:
		f.setting("model", maker+"/"+model, from)
	}
}

// provides reports whether jcode knows a provider, by itself or from its settings.
func (f *finder) provides(name string) bool {
	if slices.ContainsFunc(provider.Presets(), func(c provider.Config) bool { return c.Name == name }) {
		return true
	}
	all, _ := has(own(f.Paths.File()), "providers")
	list, _ := all.(object)
	return list[name] != nil
}

func (f *finder) theme(theme, from string) {
	if theme == "" || theme == "auto" || theme == "system" {
		return
	}
	lower := strings.ToLower(theme)
	switch {
	case strings.Contains(lower, "ansi"):
		f.setting("theme", "ansi16", from)
	case strings.Contains(lower, "light"):
		f.setting("theme", "light", from)
	case strings.Contains(lower, "dark") || lower == "default":
		f.setting("theme", "dark", from)
	default:
		f.refuse(Setting, "theme", from, "there is no theme %s here: /theme shows those that there are", theme)
	}
}

// mode offers a mode. One that asks nothing at all is not taken over.
func (f *finder) mode(theirs string, modes map[string]string, from string) {
	switch ours := modes[theirs]; {
	case theirs == "":
	case ours == "":
		f.refuse(Setting, "mode", from, "%s is not taken over: --mode yolo of one run is the mode that asks nothing", theirs)
	default:
		f.setting("mode", ours, from)
	}
}

// others names settings that have no counterpart.
func (f *finder) others(from string, s object, keys ...string) {
	why := map[string]string{
		"env": "variables may be secrets: set them where jcode starts", "apiKeyHelper": "name it as key_command of a provider in config.json",
		"statusLine": "status_line of config.json takes a command of its own", "outputStyle": "a role says how to answer", "sandbox": "jcode has rules of its own: docs/permissions.md",
		"model_providers": "providers of config.json have another form", "provider": "providers of config.json have another form", "providers": "providers of config.json have another form",
		"profiles": "roles stand for them", "notify": "notifications and hooks stand for it", "model_reasoning_effort": "/set effort sets it for a session", "defaultThinkingLevel": "/set effort sets it for a session",
		"projects": "trust is a question of jcode's own", "hooks": "they name tools and events that jcode has not: docs/hooks.md has the form here", "security": "keys are stored by jcode itself",
		"telemetry": "OTEL_EXPORTER_OTLP_ENDPOINT turns it on", "context": "jcode reads AGENTS.md and CLAUDE.md", "keybinds": "keys have other names here: /keys", "plugin": "plugins are programs for another agent",
		"formatter": "after_edit of config.json runs commands", "lsp": "language servers are found by themselves", "instructions": "name such files with @ in AGENTS.md", "extensions": "extensions are programs for another agent", "packages": "packages are programs for another agent",
	}
	for _, key := range keys {
		if _, there := s[key]; there {
			f.refuse(Setting, key, from, "%s", why[key])
		}
	}
}

// hookFile offers the hooks of a file that has Claude Code's form.
func (f *finder) hookFile(file string) {
	s := f.read(file)
	for _, event := range sorted(in[object](s, "hooks")) {
		if !slices.Contains(hooks.Events(), hooks.Event(event)) {
			f.refuse(Hook, event, file, "there is no event %s here", event)
			continue
		}
		raw, err := json.Marshal(in[object](s, "hooks")[event])
		var groups []hooks.Group
		if err == nil {
			err = json.Unmarshal(raw, &groups)
		}
		if err != nil {
			f.refuse(Hook, event, file, "it is not in the form of hooks: %v", err)
			continue
		}
		f.hooks(event, file, groups)
	}
}

// hooks offers hooks of an event that there are not yet.
func (f *finder) hooks(event, from string, groups []hooks.Group) {
	file := f.settingsFile()
	current := func() []hooks.Group {
		all, _ := has(own(file), "hooks")
		list, _ := all.(object)
		raw, err := json.Marshal(list[event])
		var now []hooks.Group
		if err != nil || json.Unmarshal(raw, &now) != nil {
			return nil
		}
		return now
	}
	fresh := slices.DeleteFunc(slices.Clone(groups), func(g hooks.Group) bool {
		return slices.ContainsFunc(current(), func(have hooks.Group) bool { return same(have, g) })
	})
	if len(fresh) == 0 {
		return
	}
	var lines []string
	for _, g := range fresh {
		for _, h := range g.Hooks {
			lines = append(lines, h.Command)
		}
	}
	f.offer(Hook, event, from, fmt.Sprintf("run at %s: %s", event, strings.Join(lines, "; ")), func(context.Context) error {
		return config.Set(file, "hooks."+event, append(current(), fresh...))
	})
}

func same(a, b hooks.Group) bool {
	if a.Matcher != b.Matcher || len(a.Hooks) != len(b.Hooks) {
		return false
	}
	for i := range a.Hooks {
		if a.Hooks[i].Command != b.Hooks[i].Command || !slices.Equal(a.Hooks[i].Args, b.Hooks[i].Args) {
			return false
		}
	}
	return true
}

// agentFolder names sub-agents that are not taken over.
func (f *finder) agentFolder(dir string) {
	for _, file := range markdown(dir, ".md") {
		f.refuse(Agent, strings.TrimSuffix(filepath.ToSlash(file), ".md"), filepath.Join(dir, file), "its tools and models are named as opencode does: /agents new makes one here")
	}
}
