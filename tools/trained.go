package tools

import (
	"encoding/json"
	"strings"

	"jcode/internal/shellword"
	"jcode/internal/toolcard"
)

// Meant finds what a model means by a name that is no tool's: a name of another agent's tool that it was trained on. It
// returns the name of the tool here, which is one that the scope offers, and the arguments as that tool has them.
func (s Snapshot) Meant(name string, args json.RawMessage) (ours string, converted json.RawMessage, ok bool) {
	if _, is, _ := s.Lookup(name); is {
		return "", nil, false
	}
	ours, ok = toolcard.Ours(strings.TrimSpace(name))
	if !ok {
		return "", nil, false
	}
	converted = args
	var a map[string]json.RawMessage
	if json.Unmarshal(args, &a) == nil {
		ours = byCommand(ours, a)
		if ours == "exec" {
			plainCommand(a)
		}
		if out, err := json.Marshal(a); err == nil {
			converted = out
		}
	}
	e, is, why := s.Lookup(ours)
	return ours, converted, is && why == "" && !e.Spec.Hidden
}

// byCommand tells apart what one trained tool does for several of ours: it reads, writes and edits, as its argument
// command says.
func byCommand(ours string, a map[string]json.RawMessage) string {
	var command string
	if ours != "edit" || a["command"] == nil || json.Unmarshal(a["command"], &command) != nil {
		return ours
	}
	delete(a, "command")
	switch command {
	case "create":
		return "write"
	case "view":
		var lines []int
		if json.Unmarshal(a["view_range"], &lines) == nil && len(lines) == 2 && lines[0] > 0 {
			a["offset"], _ = json.Marshal(lines[0])
			if lines[1] >= lines[0] {
				a["limit"], _ = json.Marshal(lines[1] - lines[0] + 1)
			}
		}
		delete(a, "view_range")
		return "read"
	}
	return ours
}

// plainCommand turns a command in words, ["bash", "-lc", "make"], into the text of it.
func plainCommand(a map[string]json.RawMessage) {
	for _, key := range []string{"command", "cmd"} {
		var words []string
		if json.Unmarshal(a[key], &words) != nil || len(words) == 0 {
			continue
		}
		if out, err := json.Marshal(shellword.Script(words)); err == nil {
			a[key] = out
		}
	}
}
