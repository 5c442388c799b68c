package transcript

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"jcode/internal/text"
	"jcode/tools"
	"jcode/tui/look"
)

// mainArguments names, in order, the arguments that best describe a call.
var mainArguments = []string{"cmd", "command", "path", "file_path", "pattern", "query", "url", "src", "action", "question", "prompt", "name", "server"}

// briefArguments describes a call in one line.
func briefArguments(name string, raw json.RawMessage) string {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil || len(m) == 0 {
		if len(bytes.TrimSpace(raw)) <= 2 {
			return ""
		}
		return text.Clean(string(raw))
	}
	if name == "todo" {
		return briefPlan(m["items"])
	}
	if name == "apply_patch" {
		return briefPatch(m["input"])
	}
	if !strings.HasPrefix(name, "mcp:") {
		first := mainArguments
		if _, has := m["pattern"]; has { // the pattern says more than the path
			first = append([]string{"pattern"}, first...)
		}
		for _, key := range first {
			if v, ok := m[key]; ok {
				return scalar(v) + secondary(key, m)
			}
		}
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, k+"="+text.Cut(look.OneLine(scalar(m[k])), 80))
	}
	return strings.Join(parts, " ")
}

// briefPlan returns the plan's current item, or otherwise the plan's length.
func briefPlan(raw json.RawMessage) string {
	var items []tools.TodoItem
	if json.Unmarshal(raw, &items) != nil {
		return ""
	}
	for _, it := range items {
		if it.Status == "in_progress" {
			return text.Clean(it.Text)
		}
	}
	return text.Count(len(items), "item")
}

// briefPatch names the files of a patch, even of one that is still arriving.
func briefPatch(raw json.RawMessage) string {
	var input string
	if json.Unmarshal(raw, &input) != nil {
		return ""
	}
	var names []string
	for line := range strings.Lines(input) {
		for _, heading := range []string{"*** Update File:", "*** Add File:", "*** Delete File:", "*** Move to:"} {
			if name, ok := strings.CutPrefix(line, heading); ok {
				names = append(names, text.Clean(strings.TrimSpace(name)))
			}
		}
	}
	return strings.Join(names, ", ")
}

// secondary adds what matters in addition to the main argument.
func secondary(key string, m map[string]json.RawMessage) string {
	get := func(name string) string {
		if v, ok := m[name]; ok && name != key {
			return scalar(v)
		}
		return ""
	}
	switch key {
	case "pattern":
		if p := get("path") + get("dir"); p != "" {
			return " in " + p
		}
	case "src":
		return " → " + get("dst")
	case "action":
		return strings.TrimRight(" "+get("id"), " ")
	case "path", "file_path":
		from, limit := get("offset"), get("limit")
		switch {
		case from != "" && limit != "":
			return " from line " + from + ", " + limit + " lines"
		case from != "":
			return " from line " + from
		}
	case "prompt":
		if role := get("role"); role != "" {
			return " (" + role + ")"
		}
	}
	return ""
}

// scalar returns a string value unchanged and other values as JSON, sanitised.
func scalar(v json.RawMessage) string {
	var s string
	if err := json.Unmarshal(v, &s); err == nil {
		return text.Clean(s)
	}
	return text.Clean(string(v))
}
