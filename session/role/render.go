package role

import (
	"regexp"
	"strings"
)

// Vars are the values of the variables in a role's body.
type Vars struct {
	Cwd     string
	OS      string
	Shell   string
	Date    string // a day, without the time
	Project string // the project's root
}

// Rendered is a role's body taken apart for use.
type Rendered struct {
	// System is the system prompt; it is empty for a template.
	System string
	// Template, when set, is the text that a person's input is put into: see Prompt.
	Template string
	// Shots are exchanges that stand before the conversation, as examples.
	Shots []Shot
}

// Shot is one example exchange.
type Shot struct{ Input, Output string }

// InputMark stands for a person's input in a template.
const InputMark = "__INPUT__"

const (
	inputHead  = "### INPUT:"
	outputHead = "### OUTPUT:"
)

// Prompt gives the user message for an input. The input is put in as it is: a mark or a
// variable in it stays text.
func (r Rendered) Prompt(input string) string {
	if r.Template == "" {
		return input
	}
	return strings.ReplaceAll(r.Template, InputMark, input)
}

var variable = regexp.MustCompile(`\{\{ *_*([a-z]+?)_* *\}\}`)

// Render expands the variables of the body and takes its examples apart. A body that has
// the input mark is a template for one user message, without a system prompt.
func (r Role) Render(v Vars) Rendered {
	body := variable.ReplaceAllStringFunc(r.Body, func(s string) string {
		switch variable.FindStringSubmatch(s)[1] {
		case "cwd":
			return v.Cwd
		case "os":
			return v.OS
		case "shell":
			return v.Shell
		case "date":
			return v.Date
		case "project":
			return v.Project
		}
		return s
	})
	prompt, shots := splitShots(body)
	out := Rendered{Shots: shots}
	if strings.Contains(prompt, InputMark) {
		out.Template = prompt
	} else {
		out.System = prompt
	}
	return out
}

// splitShots takes the `### INPUT:` and `### OUTPUT:` pairs off the end of a body. A body
// whose marks don't come in pairs is prompt as a whole.
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
