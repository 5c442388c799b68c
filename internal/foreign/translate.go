package foreign

import (
	"encoding/json"
	"slices"
	"strings"

	"jcode/internal/shellword"
	"jcode/internal/toolcard"
)

// shape says which arguments of others mean which of ours, and which may be left out since they say nothing about what
// was done: how long it might take, how much of the result was wanted, what it was for.
type shape struct {
	names map[string]string // theirs to ours
	idle  []string
	needs []string // of ours
}

// shapeOf returns the shape of a tool of ours, for those that others have too.
func shapeOf(tool string) (shape, bool) {
	const file = "path"
	paths := map[string]string{"file_path": file, "filePath": file, "absolute_path": file, "dir_path": file, "path": file}
	with := func(more map[string]string) map[string]string {
		for k, v := range paths {
			if more[k] == "" {
				more[k] = v
			}
		}
		return more
	}
	edits := map[string]string{
		"old_string": "old_string", "oldString": "old_string", "oldText": "old_string", "old_str": "old_string",
		"new_string": "new_string", "newString": "new_string", "newText": "new_string", "new_str": "new_string",
		"replace_all": "replace_all", "replaceAll": "replace_all", "allow_multiple": "replace_all",
	}
	switch tool {
	case "read":
		return shape{with(map[string]string{"offset": "offset", "limit": "limit", "start_line": "offset", "pages": "pages"}), nil, []string{file}}, true
	case "write":
		return shape{with(map[string]string{"content": "content"}), nil, []string{file, "content"}}, true
	case "edit":
		edits["edits"] = "edits"
		return shape{with(edits), []string{"instruction", "expected_replacements"}, []string{file}}, true
	case "an edit":
		return shape{edits, nil, []string{"old_string", "new_string"}}, true
	case "exec":
		return shape{
			map[string]string{"command": "cmd", "cmd": "cmd", "workdir": "dir", "working_dir": "dir", "working_directory": "dir", "dir_path": "dir", "run_in_background": "background", "is_background": "background"},
			[]string{"description", "timeout", "timeout_ms", "type", "env", "user", "login", "shell", "tty", "yield_time_ms", "max_output_tokens", "justification", "with_escalated_permissions", "sandbox_permissions", "dangerouslyDisableSandbox", "auto_background_after"},
			[]string{"cmd"},
		}, true
	case "grep":
		return shape{
			with(map[string]string{"pattern": "pattern", "include": "include", "glob": "include", "include_pattern": "include", "literal": "literal", "literal_text": "literal", "context": "context", "-C": "context"}),
			[]string{"-n", "output_mode", "head_limit", "limit"},
			[]string{"pattern"},
		}, true
	case "glob":
		return shape{map[string]string{"pattern": "pattern", "path": "dir", "dir_path": "dir", "dir": "dir"}, []string{"limit", "respect_git_ignore"}, []string{"pattern"}}, true
	case "ls":
		return shape{paths, []string{"ignore", "depth", "limit"}, nil}, true
	case "fetch":
		return shape{map[string]string{"url": "url"}, []string{"prompt", "format", "timeout"}, []string{"url"}}, true
	case "apply_patch":
		return shape{map[string]string{"input": "input", "patchText": "input", "patch": "input"}, nil, []string{"input"}}, true
	}
	return shape{}, false
}

// translate returns a call of another agent as one of ours. ok is false if there is no such tool here, or if an argument
// means something that it can't be told.
func translate(name string, arguments json.RawMessage) (ours string, converted json.RawMessage, ok bool) {
	if ours = map[string]string{"exec_command": "exec", "find": "glob"}[strings.ToLower(name)]; ours == "" {
		if ours, ok = toolcard.Ours(name); !ok {
			return "", nil, false
		}
	}
	s, ok := shapeOf(ours)
	if !ok {
		return "", nil, false
	}
	var text string
	if json.Unmarshal(arguments, &text) == nil { // JSON in a text, or the patch itself
		if arguments = json.RawMessage(text); ours == "apply_patch" && !json.Valid(arguments) {
			arguments, _ = json.Marshal(map[string]string{"input": text})
		}
	}
	var theirs map[string]json.RawMessage
	if json.Unmarshal(arguments, &theirs) != nil {
		return "", nil, false
	}
	switch ours {
	case "exec":
		if words := []string(nil); json.Unmarshal(theirs["command"], &words) == nil && len(words) > 0 {
			theirs["command"], _ = json.Marshal(shellword.Script(words))
		}
	case "read":
		lastLine(theirs)
	case "grep":
		ignoringCase(theirs)
	}
	out, ok := s.rename(theirs)
	if !ok {
		return "", nil, false
	}
	if list, has := out["edits"]; has {
		if out["edits"], ok = renameEach(list); !ok {
			return "", nil, false
		}
	} else if ours == "edit" && (out["old_string"] == nil || out["new_string"] == nil) {
		return "", nil, false
	}
	converted, err := json.Marshal(out)
	return ours, converted, err == nil
}

func (s shape) rename(theirs map[string]json.RawMessage) (out map[string]json.RawMessage, ok bool) {
	out = map[string]json.RawMessage{}
	for key, value := range theirs {
		ours, known := s.names[key]
		switch {
		case string(value) == "null" || slices.Contains(s.idle, key):
		case !known || out[ours] != nil:
			return nil, false
		default:
			out[ours] = value
		}
	}
	for _, key := range s.needs {
		if out[key] == nil {
			return nil, false
		}
	}
	return out, true
}

// renameEach renames the arguments of each edit of a list.
func renameEach(list json.RawMessage) (json.RawMessage, bool) {
	var edits []map[string]json.RawMessage
	if json.Unmarshal(list, &edits) != nil || len(edits) == 0 {
		return nil, false
	}
	s, _ := shapeOf("an edit")
	for i := range edits {
		var ok bool
		if edits[i], ok = s.rename(edits[i]); !ok {
			return nil, false
		}
	}
	out, err := json.Marshal(edits)
	return out, err == nil
}

// lastLine turns a first and a last line into a first one and a number.
func lastLine(a map[string]json.RawMessage) {
	first, last := 1, 0
	if json.Unmarshal(a["end_line"], &last) != nil {
		return
	}
	if a["start_line"] != nil && json.Unmarshal(a["start_line"], &first) != nil || last < first {
		return
	}
	delete(a, "end_line")
	a["limit"], _ = json.Marshal(last - first + 1)
}

// ignoringCase writes into the pattern that case doesn't matter.
func ignoringCase(a map[string]json.RawMessage) {
	for _, key := range []string{"-i", "ignoreCase"} {
		var yes bool
		var pattern string
		if json.Unmarshal(a[key], &yes) != nil || json.Unmarshal(a["pattern"], &pattern) != nil {
			continue
		}
		delete(a, key)
		if yes {
			a["pattern"], _ = json.Marshal("(?i)" + pattern)
		}
	}
}
