package hooks

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Event is the name of an event that hooks can run at.
type Event string

// The events.
const (
	PreToolUse       Event = "PreToolUse"
	PostToolUse      Event = "PostToolUse"
	UserPromptSubmit Event = "UserPromptSubmit"
	Stop             Event = "Stop"
	SubagentStop     Event = "SubagentStop"
	SessionStart     Event = "SessionStart"
	SessionEnd       Event = "SessionEnd"
	PreCompact       Event = "PreCompact"
	Notification     Event = "Notification"
)

// Events returns all events.
func Events() []Event {
	return []Event{PreToolUse, PostToolUse, UserPromptSubmit, Stop, SubagentStop, SessionStart, SessionEnd, PreCompact, Notification}
}

// The limits of a hook's time.
const (
	DefaultTimeout = 60 * time.Second
	MaxTimeout     = 10 * time.Minute
)

// Group is a matcher and the commands that run if it matches, in the form of settings files.
type Group struct {
	Matcher string    `json:"matcher" desc:"Which tools: a regular expression for the whole name, such as Edit|Write or exec; empty is all. For SessionStart, SessionEnd, PreCompact and Notification it is matched with the source, reason, trigger or kind."`
	Hooks   []Command `json:"hooks" desc:"What runs; matching commands run in parallel."`
}

// Command is one hook of a group.
type Command struct {
	Type    string  `json:"type" desc:"Kind of hook." enum:"command" default:"command"`
	Command string  `json:"command" desc:"Shell line; the event comes as JSON on its standard input." required:"true"`
	Timeout float64 `json:"timeout" desc:"Seconds that it may take." default:"60" min:"0"`
}

// Hook is one command that runs for an event.
type Hook struct {
	Event   Event
	Command string
	Timeout time.Duration
	// Matcher is the matcher as written.
	Matcher string
	// Source names where the hook was defined, for people: a file, or a plugin.
	Source string
	// Env are additional variables, such as CLAUDE_PLUGIN_ROOT.
	Env []string
	// Refuse returns the reason why the hook must not run now, or "". Nil means that it may run.
	Refuse func() string

	match *regexp.Regexp // nil matches all
}

// Line returns the hook as it is shown to a person.
func (h Hook) Line() string {
	line := string(h.Event)
	if h.Matcher != "" {
		line += " " + h.Matcher
	}
	return line + ": " + h.Command
}

// Parse parses the hooks of a settings file: the value of its key "hooks". What cannot be used is
// left out and listed in problems.
func Parse(raw json.RawMessage, source string) (list []Hook, problems []string) {
	fault := func(format string, args ...any) {
		problems = append(problems, source+": hooks: "+fmt.Sprintf(format, args...))
	}
	var events map[string]json.RawMessage
	if err := json.Unmarshal(raw, &events); err != nil {
		fault("must be an object of events: %v", plain(err))
		return nil, problems
	}
	for _, name := range slices.Sorted(maps.Keys(events)) {
		if !slices.Contains(Events(), Event(name)) {
			fault("%s is not an event; known: %s", name, joinEvents())
			continue
		}
		var groups []struct {
			Matcher string                       `json:"matcher"`
			Hooks   []map[string]json.RawMessage `json:"hooks"`
		}
		if err := json.Unmarshal(events[name], &groups); err != nil {
			fault("%s must be a list of {matcher, hooks}: %v", name, plain(err))
			continue
		}
		for _, g := range groups {
			for i, fields := range g.Hooks {
				h, err := readHook(Event(name), g.Matcher, fields)
				if err != nil {
					fault("%s[%d]: %v", name, i, err)
					continue
				}
				h.Source = source
				list = append(list, h)
			}
		}
	}
	return list, problems
}

// From returns the hooks of parsed groups, and the problems of those that cannot be used.
func From(events map[string][]Group, source string) (list []Hook, problems []string) {
	raw, err := json.Marshal(events)
	if err != nil {
		return nil, []string{source + ": " + err.Error()}
	}
	return Parse(raw, source)
}

func readHook(event Event, matcher string, fields map[string]json.RawMessage) (Hook, error) {
	h := Hook{Event: event, Matcher: matcher, Timeout: DefaultTimeout}
	kind := "command"
	seconds := 0.0
	for key, target := range map[string]any{"type": &kind, "command": &h.Command, "timeout": &seconds} {
		if raw, ok := fields[key]; ok {
			if err := json.Unmarshal(raw, target); err != nil {
				return h, fmt.Errorf("%s: %s", key, plain(err))
			}
		}
	}
	switch {
	case kind != "command" && kind != "":
		return h, fmt.Errorf("type %q does not run here: only commands do", kind)
	case strings.TrimSpace(h.Command) == "":
		return h, fmt.Errorf("command is missing")
	case seconds < 0:
		return h, fmt.Errorf("timeout must not be negative")
	case seconds > 0:
		h.Timeout = min(time.Duration(seconds*float64(time.Second)), MaxTimeout)
	}
	if matcher != "" && matcher != "*" {
		re, err := regexp.Compile("^(?:" + matcher + ")$")
		if err != nil {
			return h, fmt.Errorf("matcher %q is not a regular expression: %s", matcher, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		h.match = re
	}
	return h, nil
}

// matches reports whether the hook applies to something with these names.
func (h Hook) matches(names []string) bool {
	if h.match == nil || len(names) == 0 {
		return true
	}
	return slices.ContainsFunc(names, h.match.MatchString)
}

// plain returns the text of a JSON error without Go's type names.
func plain(err error) string {
	if e, ok := err.(*json.UnmarshalTypeError); ok { //nolint:errorlint // json returns exactly this type
		if e.Field == "" {
			return "a value of type " + e.Value + " does not belong here"
		}
		return "a value of type " + e.Value + " does not belong in " + e.Field
	}
	return err.Error()
}

func joinEvents() string {
	var names []string
	for _, e := range Events() {
		names = append(names, string(e))
	}
	return strings.Join(names, ", ")
}
