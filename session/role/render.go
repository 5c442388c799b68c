package role

import (
	"maps"
	"slices"
	"strings"

	"jcode/internal/pattern"
)

// Vars are the values of the variables in a role's text.
type Vars struct {
	Cwd     string
	OS      string
	Shell   string
	Date    string // a day, without the time
	Project string // the project's root
	// Values are those of the role's own variables, by name: see Role.Values.
	Values map[string]string
}

// Rendered is a role's body, ready for use.
type Rendered struct {
	// System is the system prompt; it is empty for a template.
	System string
	// Template, when set, are the texts around the places for the person's input: see
	// Prompt.
	Template []string
	// Shots are example exchanges that precede the conversation.
	Shots []Shot
	// Servers are the role's MCP servers; nil leaves them as they are.
	Servers []string
}

// Shot is one example exchange.
type Shot struct{ Input, Output string }

// InputMark is the placeholder for a person's input in a template.
const InputMark = "__INPUT__"

const (
	inputHead  = "### INPUT:"
	outputHead = "### OUTPUT:"
)

// Prompt returns the user message for an input. The input is inserted as it is: a mark or a
// variable in it stays text.
func (r Rendered) Prompt(input string) string {
	if r.Template == nil {
		return input
	}
	return strings.Join(r.Template, input)
}

var variable = pattern.Lazy(`\\?\{\{ *([A-Za-z_][A-Za-z0-9_-]*) *\}\}`)

// builtin returns the value that jcode itself has for a name. `__os__` means os, too.
func (v Vars) builtin(name string) (string, bool) {
	switch strings.Trim(name, "_") {
	case "cwd":
		return v.Cwd, true
	case "os":
		return v.OS, true
	case "shell":
		return v.Shell, true
	case "date":
		return v.Date, true
	case "project":
		return v.Project, true
	}
	return "", false
}

func builtinVariable(name string) bool {
	_, is := Vars{}.builtin(name)
	return is
}

// expand inserts the values of variables into a text. What looks like a variable in a value
// stays text. The escape `\{{` exists only in roles with variables of their own.
func (r Role) expand(s string, values map[string]string, v Vars) string {
	return variable().ReplaceAllStringFunc(s, func(s string) string {
		inner, escaped := strings.CutPrefix(s, `\`)
		if escaped && r.Variables != nil {
			return inner
		}
		name := variable().FindStringSubmatch(inner)[1]
		value, known := values[name]
		if !known {
			value, known = v.builtin(name)
		}
		if !known {
			return s
		}
		return s[:len(s)-len(inner)] + value
	})
}

// settled returns the value of every variable: the person's, else its default.
func (r Role) settled(v Vars) map[string]string {
	out := map[string]string{}
	defaults := map[string]string{}
	for _, d := range r.Variables {
		switch value, has := v.Values[d.Name]; {
		case has:
			out[d.Name] = value
		case d.Default != nil:
			defaults[d.Name] = *d.Default
		default:
			out[d.Name] = ""
		}
	}
	// A default is expanded after those that it refers to. Those of a cycle, which Parse
	// refuses, stay as they are written.
	for range len(defaults) {
		for name, text := range defaults {
			waits := slices.ContainsFunc(variable().FindAllStringSubmatch(text, -1), func(m []string) bool {
				_, open := defaults[m[1]]
				return open && m[0][0] != '\\'
			})
			if !waits {
				out[name] = r.expand(text, out, v)
				delete(defaults, name)
			}
		}
	}
	maps.Copy(out, defaults)
	return out
}

// Render expands the variables of the body and splits off its examples. A body with the input
// mark is a template for one user message, without a system prompt. Marks in the value of a
// variable are text.
func (r Role) Render(v Vars) Rendered {
	values := r.settled(v)
	prompt, shots := splitShots(r.Body)
	var out Rendered
	for _, s := range shots {
		out.Shots = append(out.Shots, Shot{Input: r.expand(s.Input, values, v), Output: r.expand(s.Output, values, v)})
	}
	if r.Servers != nil {
		out.Servers = make([]string, len(r.Servers))
		for i, s := range r.Servers {
			out.Servers[i] = r.expand(s, values, v)
		}
	}
	parts := strings.Split(prompt, InputMark)
	for i := range parts {
		parts[i] = r.expand(parts[i], values, v)
	}
	if len(parts) > 1 {
		out.Template = parts
	} else {
		out.System = parts[0]
	}
	return out
}

// splitShots splits the `### INPUT:` and `### OUTPUT:` pairs off the end of a body. A body
// whose marks don't come in pairs is all prompt.
func splitShots(body string) (prompt string, shots []Shot) {
	var pieces []string // prompt, input, output, input, output …
	var now strings.Builder
	cut := func(rest string) {
		pieces = append(pieces, strings.TrimSpace(now.String()))
		now.Reset()
		now.WriteString(rest)
	}
	for line := range strings.Lines(body) {
		wantsInput := len(pieces)%2 == 0
		in, isInput := strings.CutPrefix(line, inputHead)
		out, isOutput := strings.CutPrefix(line, outputHead)
		switch {
		case isInput && wantsInput:
			cut(in)
		case isOutput && !wantsInput:
			cut(out)
		case isInput || isOutput:
			return strings.TrimSpace(body), nil
		default:
			now.WriteString(line)
		}
	}
	cut("")
	if len(pieces)%2 == 0 {
		return strings.TrimSpace(body), nil
	}
	for i := 1; i < len(pieces); i += 2 {
		shots = append(shots, Shot{Input: pieces[i], Output: pieces[i+1]})
	}
	return pieces[0], shots
}
