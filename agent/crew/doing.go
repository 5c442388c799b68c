package crew

import (
	"encoding/json"

	"jcode/internal/text"
)

// doing says in one line what a call does: a command is its line, anything else its name and what it is about.
func doing(name string, arguments json.RawMessage) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(arguments, &args) != nil {
		return name
	}
	for _, key := range []string{"cmd", "command", "path", "file_path", "pattern", "query", "url", "src", "action", "question", "prompt", "name"} {
		var value string
		if json.Unmarshal(args[key], &value) != nil || value == "" {
			continue
		}
		value = text.Truncate(text.OneLine(text.Visible(value)), 200, "…")
		if name == "exec" && (key == "cmd" || key == "command") {
			return value
		}
		return name + " " + value
	}
	return name
}
