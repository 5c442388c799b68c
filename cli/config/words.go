package config

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"jcode/hooks"
)

// Lines says what the setting is, for a person who decides whether to trust it: one line for each thing that it allows
// or runs. Defaults are left out. What has no words here is shown as "key: value".
func (h Held) Lines() []string {
	d := json.NewDecoder(strings.NewReader(h.Value))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return []string{h.Value}
	}
	section, name, _ := strings.Cut(h.Key, ".")
	var lines []string
	ok := false
	switch section {
	case "hooks":
		lines, ok = eachOf(v, func(group map[string]any) ([]string, bool) { return hookLines(name, group) })
	case "permissions":
		lines, ok = ruleLines(name, v)
	case afterEdit:
		lines, ok = eachOf(v, editLines)
	}
	if !ok {
		lines = flat("", v)
	}
	if len(lines) == 0 { // nothing but defaults
		return []string{h.Value}
	}
	return lines
}

// eachOf joins the lines of a list's objects; ok is false if it has others.
func eachOf(v any, words func(map[string]any) ([]string, bool)) (lines []string, ok bool) {
	list, ok := v.([]any)
	for _, e := range list {
		m, isMap := e.(map[string]any)
		if !isMap {
			return nil, false
		}
		more, known := words(m)
		if !known {
			return nil, false
		}
		lines = append(lines, more...)
	}
	return lines, ok
}

// hookLines has a line for each command of a group of hooks.
func hookLines(event string, group map[string]any) (lines []string, ok bool) {
	matcher, isText := textOf(group, "matcher")
	list, isList := group["hooks"].([]any)
	if !isText || !isList || len(list) == 0 {
		return nil, false
	}
	ofGroup := without(group, "matcher", "hooks")
	return eachOf(list, func(m map[string]any) ([]string, bool) {
		command, isText := textOf(m, "command")
		cond, isCond := textOf(m, "if")
		h := hooks.Hook{Event: hooks.Event(event), Matcher: matcher, Command: command, If: cond}
		args, isList := m["args"].([]any)
		if !isText || !isCond || m["args"] != nil && !isList {
			return nil, false
		}
		for _, a := range args {
			s, isText := a.(string)
			if !isText {
				return nil, false
			}
			h.Args = append(h.Args, s)
		}
		rest := without(m, "command", "args", "if")
		if rest["type"] == "command" {
			delete(rest, "type")
		}
		return []string{"hook  " + h.With(append(pairs(rest), pairs(ofGroup)...)...)}, true
	})
}

// ruleLines has a line for each rule: "allow exec(go test *)".
func ruleLines(effect string, v any) (lines []string, ok bool) {
	list, ok := v.([]any)
	for _, e := range list {
		rule, isText := e.(string)
		if !isText {
			return nil, false
		}
		lines = append(lines, effect+" "+rule)
	}
	return lines, ok
}

func editLines(m map[string]any) (lines []string, ok bool) {
	glob, isGlob := textOf(m, "glob")
	cmd, isCmd := textOf(m, "cmd")
	if !isGlob || !isCmd || glob == "" {
		return nil, false
	}
	line := "after an edit of " + glob
	if more := pairs(without(m, "glob", "cmd")); len(more) > 0 {
		line += " (" + strings.Join(more, ", ") + ")"
	}
	return []string{line + "  " + cmd}, true
}

// textOf returns a text of an object, "" for none; ok is false if it is of another type.
func textOf(m map[string]any, key string) (s string, ok bool) {
	v, has := m[key]
	if !has || v == nil {
		return "", true
	}
	s, ok = v.(string)
	return s, ok
}

func without(m map[string]any, keys ...string) map[string]any {
	out := maps.Clone(m)
	for _, k := range keys {
		delete(out, k)
	}
	return out
}

// pairs returns what an object holds as "key: value", without what is not set.
func pairs(m map[string]any) (out []string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if isSet(m[k]) {
			out = append(out, k+": "+inline(m[k]))
		}
	}
	return out
}

// flat returns the lines of any value under a key.
func flat(key string, v any) (lines []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if isSet(v[k]) {
				lines = append(lines, flat(strings.TrimPrefix(key+"."+k, "."), v[k])...)
			}
		}
		return lines
	case []any:
		for _, e := range v {
			if m, ok := e.(map[string]any); ok {
				e = cmp.Or(strings.Join(pairs(m), ", "), inline(m))
			}
			lines = append(lines, flat(key, e)...)
		}
		return lines
	case string:
		if key == "" {
			return []string{v}
		}
		return []string{key + ": " + v}
	}
	if key == "" {
		return []string{inline(v)}
	}
	return []string{key + ": " + inline(v)}
}

// inline writes a value within a line: a text as it is unless it could be taken for more than one.
func inline(v any) string {
	if s, ok := v.(string); ok && s != "" && !strings.ContainsAny(s, ",:()\"\n") {
		return s
	}
	raw, err := readable(v)
	if err != nil {
		return "?" // values that came from JSON can be encoded as JSON
	}
	return string(raw)
}

// isSet reports whether a value is more than the empty one, which says nothing.
func isSet(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case string:
		return v != "" && v != "0s"
	case json.Number:
		return v != "0"
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	}
	return true
}

// isCode reports whether a setting is commands or rules. A person who decides about them sees all of each: what is
// hidden in an address could hide what comes after it.
func isCode(key string) bool {
	return key == afterEdit || strings.HasPrefix(key, "hooks.") || strings.HasPrefix(key, "permissions.")
}
