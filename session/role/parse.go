package role

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"jcode/internal/frontmatter"
)

// MaxBytes bounds a role file, in bytes.
const MaxBytes = 256 << 10

// Parse reads the text of a role file. It never fails: what is wrong is in Problems, and
// every other key counts.
func Parse(name string, data []byte) Role { return read(name, data, false) }

// read reads a role file, or where foreign is set the definition of an agent: that may name
// itself, needs front matter and has other keys.
func read(name string, data []byte, foreign bool) Role {
	size, text := len(data), string(data)
	data = data[:min(size, MaxBytes)]
	doc := frontmatter.Parse(data)
	if f, ok := doc.Get("name"); foreign && ok && strings.TrimSpace(f.String()) != "" {
		name = strings.TrimSpace(f.String())
	}
	r := Role{Name: name, Text: text}
	if err := CheckName(name); err != nil {
		r.problem(0, err.Error(), "rename it", true)
	}
	if size > MaxBytes {
		r.problem(0, fmt.Sprintf("it has %d bytes, a role has at most %d", size, MaxBytes), "shorten it", true)
	}
	if n := len(doc.Problems); doc.Present && !doc.Closed { // the cause of the others
		doc.Problems = append(doc.Problems[n-1:n:n], doc.Problems[:n-1]...)
	}
	for _, p := range doc.Problems {
		// Whatever is not understood may be what limits the role: only a description can't be, and in the definition of
		// an agent the examples after one, which begin like keys or at the start of a line.
		about := cmp.Or(p.Key, p.After)
		prose := foreign && about != "" && !limits(about+":") && !meantToLimit(about) && !meantToLimit(firstWord(data, p.Line)) && !mixed(firstWord(data, p.Line))
		r.problem(p.Line, p.Text, p.Cure, roleKey(p.Key) != "description" && !prose)
	}
	if foreign && !doc.Present {
		r.problem(1, "it does not begin with front matter", "begin with a line ---, the keys name and description, and a line ---", true)
	}
	set := (*Role).set
	if foreign {
		set = (*Role).setAgent
	}
	for i, f := range doc.Fields {
		set(&r, f, func() string { return rawField(data, doc, i) })
		if f.Kind == frontmatter.Text {
			r.swallowed(f, rawField(data, doc, i))
		}
	}
	r.Body = strings.Trim(doc.Body, "\n")
	if line := misplaced(doc.Body, doc.Present && len(doc.Fields) > 0); line > 0 {
		r.problem(doc.BodyLine+line-1, "keys of a role in its text, where they have no effect", "front matter begins with --- at the start of the first line, and there is one only", true)
	}
	blank := len(doc.Body) - len(strings.TrimLeft(doc.Body, "\n"))
	r.checkVariables(doc.BodyLine + blank)
	return r
}

// firstWord returns the first word of a line, which is counted from 1.
func firstWord(data []byte, number int) string {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)), "\n")
	if number < 1 || number > len(lines) {
		return ""
	}
	word, _, _ := strings.Cut(strings.TrimSpace(lines[number-1]), " ")
	return word
}

func (r *Role) problem(line int, text, cure string, fatal bool) {
	r.Problems = append(r.Problems, Problem{Line: line, Text: text, Cure: cure, Fatal: fatal})
}

// swallowed reports a key that limits a role and was read as a part of another key's text.
func (r *Role) swallowed(f frontmatter.Field, raw string) {
	lines := strings.Split(raw, "\n")
	if _, value, _ := strings.Cut(lines[0], ":"); strings.ContainsAny(strings.TrimSpace(value)+" ", "|>") && len(strings.TrimSpace(value)) < 4 {
		return // a block of text, as it says itself
	}
	for i, line := range lines[1:] {
		if limits(line) {
			r.problem(f.Line+1+i, fmt.Sprintf("%s is read as part of %s", keyOf(line), f.Key), "begin the line with the key", true)
		}
	}
}

// set applies one key.
func (r *Role) set(f frontmatter.Field, raw func() string) {
	switch knownKey(f.Key) {
	case "description":
		r.Description = f.String()
	case "model":
		r.Model = strings.TrimSpace(f.String())
	case "temperature":
		r.Temperature = r.number(f, 0, 2)
	case "top_p":
		r.TopP = r.number(f, 0, 1)
	case "reasoning_effort":
		r.ReasoningEffort = strings.TrimSpace(f.String())
	case "max_output_tokens":
		r.MaxOutputTokens = r.count(f, "tokens")
	case "tools":
		r.Tools = r.list(f)
	case "mcp_servers":
		r.Servers = r.list(f)
	case "documents":
		r.Documents = r.list(f)
	case "skills":
		r.Skills = r.list(f)
	case "capabilities":
		r.Capabilities = r.list(f)
	case "disallowed_tools":
		r.Disallowed = r.list(f)
	case "max_steps":
		r.MaxSteps = r.count(f, "requests")
	case "variables":
		r.variables(f, raw())
	case "hooks":
		r.hooks(f, raw())
	case "mode":
		if f.Kind == frontmatter.Null {
			r.problem(f.Line, "mode has no value", "use "+strings.Join(Modes(), ", ")+", or leave the key out", true)
		}
		r.Mode = strings.ToLower(strings.TrimSpace(f.String()))
		if r.Mode != "" && !slices.Contains(Modes(), r.Mode) {
			r.problem(f.Line, fmt.Sprintf("mode: there is no mode %q", r.Mode), "use "+strings.Join(Modes(), ", "), true)
		}
	case "memory":
		r.Memory = strings.ToLower(strings.TrimSpace(f.String()))
		if !slices.Contains([]string{"none", "project", "all"}, r.Memory) {
			r.problem(f.Line, fmt.Sprintf("memory: there is no choice %q", r.Memory), "use none, project or all, or leave the key out", true)
		}
	default:
		r.Unknown = append(r.Unknown, Field{Key: f.Key, Raw: raw()})
		r.problem(f.Line, fmt.Sprintf("unknown key %q", f.Key), "it has no effect: correct or remove it; keys of your own begin with x-", !harmless(f.Key))
	}
}

// Modes are the values of `mode` that the role file format defines.
func Modes() []string { return []string{"plan", "ask", "edits", "auto", "yolo"} }

func (r *Role) number(f frontmatter.Field, low, high float64) *float64 {
	if f.Kind == frontmatter.Null {
		return nil
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(f.String()), 64)
	if err != nil || math.IsNaN(x) || x < low || x > high {
		r.problem(f.Line, fmt.Sprintf("%s: %q is not a number from %g to %g", f.Key, f.String(), low, high), "correct it, or leave the key out", true)
		return nil
	}
	return &x
}

// count reads a number of things; 0 means that none is set.
func (r *Role) count(f frontmatter.Field, things string) int {
	if f.Kind == frontmatter.Null {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(f.String()))
	if err != nil || n < 0 {
		r.problem(f.Line, fmt.Sprintf("%s: %q is not a count of %s", f.Key, f.String(), things), "write a whole number, or leave the key out", true)
		return 0
	}
	return n
}

// list reads a list or a text with commas. "all" means no restriction, "none" an empty list.
func (r *Role) list(f frontmatter.Field) []string {
	var items []string
	switch f.Kind {
	case frontmatter.Null:
		return nil
	case frontmatter.List:
		items = f.List
	case frontmatter.Map:
		r.problem(f.Line, f.Key+" is a map", "write a list: ["+strings.ReplaceAll(f.String(), "\n", " ")+"]", true)
		return []string{}
	default:
		items = strings.Split(f.Text, ",")
	}
	out := []string{}
	for _, item := range items {
		if item = strings.TrimSpace(item); item != "" && !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	if len(out) == 1 {
		switch strings.ToLower(out[0]) {
		case "all", "*":
			return nil
		case "none":
			return []string{}
		}
	}
	return out
}

// rawField returns the lines of a key as they are written, with `\n` line ends.
func rawField(data []byte, doc frontmatter.Document, i int) string {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	end := doc.BodyLine - 2 // the line of the closing mark, from 0
	for _, f := range doc.Fields {
		if f.Line > doc.Fields[i].Line {
			end = min(end, f.Line-1)
		}
	}
	first := doc.Fields[i].Line - 1
	end = min(max(end, first+1), len(lines))
	for j := first + 1; j < end; j++ {
		if l := lines[j]; l != "" && !strings.ContainsAny(l[:1], " \t-]}#") {
			end = j // a line that belongs to no key, or to an earlier one
		}
	}
	return strings.TrimRight(strings.Join(lines[first:end], "\n"), " \t\n")
}
