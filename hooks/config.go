package hooks

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"jcode/internal/shellword"
)

// Event is the name of an event that hooks can run at.
type Event string

// The events.
const (
	PreToolUse  Event = "PreToolUse"
	PostToolUse Event = "PostToolUse"
	// PostToolUseFailure is the event of a call that failed.
	PostToolUseFailure Event = "PostToolUseFailure"
	UserPromptSubmit   Event = "UserPromptSubmit"
	Stop               Event = "Stop"
	SubagentStop       Event = "SubagentStop"
	SessionStart       Event = "SessionStart"
	SessionEnd         Event = "SessionEnd"
	PreCompact         Event = "PreCompact"
	Notification       Event = "Notification"
)

// Events returns all events.
func Events() []Event {
	return []Event{PreToolUse, PostToolUse, PostToolUseFailure, UserPromptSubmit, Stop, SubagentStop, SessionStart, SessionEnd, PreCompact, Notification}
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
	Type    string   `json:"type" desc:"Kind of hook." enum:"command" default:"command"`
	Command string   `json:"command" desc:"Shell line; the event comes as JSON on its standard input. With args, a program." required:"true"`
	Args    []string `json:"args,omitempty" desc:"Arguments of the program that command names; it is then started without a shell."`
	If      string   `json:"if,omitempty" desc:"Only for calls that this permission rule covers, such as Bash(git push *)."`
	Timeout float64  `json:"timeout" desc:"Seconds that it may take." default:"60" min:"0"`
	Once    bool     `json:"once,omitempty" desc:"Run it once in a session." default:"false"`
	Async   bool     `json:"async,omitempty" desc:"Nothing waits for it; its answer is not read." default:"false"`
	Rewake  bool     `json:"asyncRewake,omitempty" desc:"As async, but the model is told at its next step what the hook objects." default:"false"`
}

// Hook is one command that runs for an event.
type Hook struct {
	Event   Event
	Command string
	Timeout time.Duration
	// Matcher is the matcher as written.
	Matcher string
	// Args are the arguments of the program that Command names. Nil means that Command is a shell line.
	Args []string
	// If is a permission rule: the hook runs only for calls that it covers. "" means all.
	If string
	// Once says that it runs once in a session, Async that nothing waits for it. Rewake says that the model is
	// told, with Preface before it, what an async hook has to object.
	Once, Async, Rewake bool
	Preface             string
	// Source names where the hook was defined, for people: a file, or a plugin.
	Source string
	// Plugin names the plugin that brought it, "" for none. Theirs says that the project did.
	Plugin string
	Theirs bool
	// Managed says that this machine's administrator set it: it runs with the system's shell and programs.
	Managed bool
	// Dir is the checkout that it comes from if that is not the engine's root: it runs there, with the files there.
	Dir string
	// Env are additional variables, such as CLAUDE_PLUGIN_ROOT.
	Env []string
	// Refuse returns the reason why the hook must not run now, or "". Nil means that it may run.
	Refuse func() string

	match *regexp.Regexp // nil matches all
}

// Line returns the hook as it is shown to a person, without what is a default.
func (h Hook) Line() string {
	var more []string
	if h.Timeout != 0 && h.Timeout != DefaultTimeout {
		more = append(more, "timeout: "+h.Timeout.String())
	}
	if h.Once {
		more = append(more, "once: true")
	}
	switch {
	case h.Rewake:
		more = append(more, "asyncRewake: true")
	case h.Async:
		more = append(more, "async: true")
	}
	if h.Preface != "" {
		more = append(more, "rewakeMessage: "+strconv.Quote(h.Preface))
	}
	return h.With(more...)
}

// With returns the hook's event, matcher, condition and command in a line, with what else is to be said of it. The
// command comes last, so that nothing in it can be taken for something else.
func (h Hook) With(more ...string) string {
	line := string(h.Event)
	if h.Matcher != "" {
		line += " on " + h.Matcher
	}
	if h.If != "" {
		line += " if " + h.If
	}
	if len(more) > 0 {
		line += " (" + strings.Join(more, ", ") + ")"
	}
	return line + "  " + h.Shown()
}

// Shown returns what the hook runs.
func (h Hook) Shown() string {
	if h.Args == nil {
		return h.Command
	}
	return shellword.Join(append([]string{h.Command}, h.Args...))
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
	seconds, shell, said := 0.0, "", ""
	known := map[string]any{
		"type": &kind, "command": &h.Command, "args": &h.Args, "if": &h.If, "timeout": &seconds, "once": &h.Once, "async": &h.Async,
		"shell": &shell, "statusMessage": &said, "description": &said, "asyncRewake": &h.Rewake, "rewakeMessage": &h.Preface, "rewakeSummary": &said,
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		target, ok := known[key]
		if !ok {
			if kind == "command" && !isKind(fields["type"]) {
				return h, fmt.Errorf("%q is not a key of a hook; known: %s", key, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			}
			continue // of another kind of hook, which is refused below
		}
		if err := json.Unmarshal(fields[key], target); err != nil {
			return h, fmt.Errorf("%s: %s", key, plain(err))
		}
	}
	h.Async = h.Async || h.Rewake
	switch {
	case kind != "command" && kind != "":
		return h, fmt.Errorf("type %q does not run here: only commands do", kind)
	case shell != "" && shell != "bash" && shell != "sh":
		return h, fmt.Errorf("the shell %q is not used here: leave it out, or start it in command", shell)
	case h.If != "" && event != PreToolUse && event != PostToolUse && event != PostToolUseFailure:
		return h, fmt.Errorf("if: %s is no event of a tool", event)
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

// isKind reports whether an entry names a kind of hook that does not run here.
func isKind(raw json.RawMessage) bool {
	var kind string
	return json.Unmarshal(raw, &kind) == nil && kind != "" && kind != "command"
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
