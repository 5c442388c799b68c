package role

import (
	"encoding/json"

	"gopkg.in/yaml.v3"

	"jcode/internal/frontmatter"
)

// hooks reads the key `hooks`: what it means is decided where hooks run.
func (r *Role) hooks(f frontmatter.Field, raw string) {
	if f.Kind == frontmatter.Null {
		return
	}
	var doc struct {
		Hooks map[string]any `yaml:"hooks"`
	}
	err := yaml.Unmarshal([]byte(raw), &doc)
	var data []byte
	if err == nil && f.Kind == frontmatter.Map {
		data, err = json.Marshal(doc.Hooks)
	}
	if err != nil || data == nil {
		r.problem(f.Line, "hooks is no map of events", "write hooks as in a settings file: docs/hooks.md", true)
		return
	}
	r.Hooks = data
}

// leaveHooks drops the hooks of a plugin's agent: a plugin's own are shown before it is accepted.
func (r *Role) leaveHooks() {
	if r.Hooks != nil {
		r.Hooks = nil
		r.problem(r.Line("hooks"), "hooks of a plugin's agent do not run", "a plugin's hooks are in its hooks/hooks.json", false)
	}
}
