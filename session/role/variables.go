package role

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"jcode/internal/frontmatter"
	"jcode/internal/text"
)

// MaxValue bounds the value of a variable, in bytes.
const MaxValue = 64 << 10

// Variable is a value that a role asks for. `{{name}}` is replaced by it in the role's text, its
// examples and its MCP servers.
type Variable struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Default is the value if the person sets none; nil means no default. It may refer to
	// other variables.
	Default *string `json:"default,omitempty"`
	// Required variables are never blank. One without a default is required unless its file
	// says otherwise.
	Required bool `json:"required,omitempty"`
	// Choices are the only values allowed; nil allows any.
	Choices []string `json:"choices,omitempty"`
}

// Allows returns why a value is not allowed, nil if it is. The error doesn't name the variable.
func (v Variable) Allows(value string) error {
	switch {
	case len(value) > MaxValue:
		return fmt.Errorf("the value has %d bytes, the most is %d: put a long text into a file and name that", len(value), MaxValue)
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return fmt.Errorf("the value is not UTF-8 text")
	case strings.TrimSpace(value) == "" && v.Required:
		return fmt.Errorf("it must not be blank%s", v.among())
	case value != "" && v.Choices != nil && !slices.Contains(v.Choices, value):
		return fmt.Errorf("%q is not a choice%s", text.Ellipsis(value, 60), v.among())
	}
	return nil
}

// among lists the choices for an error, "" without any.
func (v Variable) among() string {
	if v.Choices == nil {
		return ""
	}
	return ": use " + strings.Join(v.Choices, ", ")
}

// String describes the variable: its name, description and choices.
func (v Variable) String() string {
	var about []string
	if v.Description != "" {
		about = append(about, text.OneLine(v.Description))
	}
	if v.Choices != nil {
		about = append(about, "one of "+strings.Join(v.Choices, ", "))
	}
	if about == nil {
		return v.Name
	}
	return v.Name + " (" + strings.Join(about, "; ") + ")"
}

// Refers reports whether the default refers to variables.
func (v Variable) Refers() bool { return v.Default != nil && variable().MatchString(*v.Default) }

// In reports whether a text refers to the variable.
func (v Variable) In(s string) bool {
	return slices.ContainsFunc(variable().FindAllStringSubmatch(s, -1), func(m []string) bool { return m[1] == v.Name })
}

// Variable returns the variable of a name. The error of an unknown one suggests the nearest.
func (r Role) Variable(name string) (Variable, error) {
	i := slices.IndexFunc(r.Variables, func(v Variable) bool { return v.Name == name })
	if i < 0 {
		return Variable{}, r.Fault(fmt.Sprintf("there is no variable %q%s", text.Ellipsis(name, 60), r.nearest(name)))
	}
	return r.Variables[i], nil
}

// MissingError says which required variables have no value.
type MissingError struct {
	Role    string
	Path    string // "" for a role without a file
	Missing []Variable
}

func (e *MissingError) Error() string {
	list := make([]string, len(e.Missing))
	for i, v := range e.Missing {
		list[i] = v.String()
	}
	where := "role " + e.Role
	if e.Path != "" {
		where += " (" + e.Path + ")"
	}
	return where + " needs " + text.Count(len(list), "value") + ": " + strings.Join(list, ", ")
}

// Values merges the values of the variables: those given now over those kept earlier. A given
// one that is wrong is an error; a kept one that the role can't use any more is left out.
// missing are the required variables with neither a value nor a default.
func (r Role) Values(kept, given map[string]string) (values map[string]string, missing []Variable, err error) {
	values = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		v, err := r.Variable(name)
		if err != nil {
			return nil, nil, err
		}
		if err := v.Allows(given[name]); err != nil {
			return nil, nil, r.Fault(fmt.Sprintf("variable %s: %v", name, err))
		}
		values[name] = given[name]
	}
	for _, v := range r.Variables {
		if _, has := values[v.Name]; has {
			continue
		}
		if old, has := kept[v.Name]; has && v.Allows(old) == nil {
			values[v.Name] = old
			continue
		}
		if v.Required && v.Default == nil {
			missing = append(missing, v)
		}
	}
	return values, missing, nil
}

// nearest suggests the variable that may be meant, or lists them all.
func (r Role) nearest(name string) string {
	names := make([]string, len(r.Variables))
	for i, v := range r.Variables {
		names[i] = v.Name
	}
	switch near := text.Nearest(name, names); {
	case near != "":
		return " (did you mean " + near + "?)"
	case len(names) == 0:
		return ": it has none"
	}
	return " (there are: " + strings.Join(names, ", ") + ")"
}

// variables reads the key of the same name. raw are its lines as they are written, for the
// line numbers of the entries.
func (r *Role) variables(f frontmatter.Field, raw string) {
	if f.Kind == frontmatter.Null {
		return
	}
	var doc yaml.Node
	err := yaml.Unmarshal([]byte(raw), &doc)
	if err != nil || f.Kind != frontmatter.List || len(doc.Content) != 1 || len(doc.Content[0].Content) != 2 {
		r.problem(f.Line, "variables is not a list", "write `- name: …` on a line for each", true)
		return
	}
	for _, item := range doc.Content[0].Content[1].Content {
		r.variable(item, f.Line-1)
	}
}

// variable reads one entry. above is the number of lines before its first.
func (r *Role) variable(item *yaml.Node, above int) {
	line := above + item.Line
	if item.Kind == yaml.ScalarNode && item.Tag == "!!str" {
		item = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "name", Line: item.Line}, item}}
	}
	if item.Kind != yaml.MappingNode {
		r.problem(line, "variables: an entry is not a map", "write `- name: …`", true)
		return
	}
	v, optional := Variable{}, false
	for i := 0; i+1 < len(item.Content); i += 2 {
		key, value := item.Content[i].Value, item.Content[i+1]
		at := above + item.Content[i].Line
		wrong := func(what, cure string) { r.problem(at, "variables: "+key+": "+what, cure, true) }
		null := value.Tag == "!!null"
		if key != "choices" && value.Kind != yaml.ScalarNode {
			wrong("it is not text", "write one value")
			continue
		}
		switch roleKey(key) {
		case "name":
			v.Name = value.Value
		case "description":
			v.Description = value.Value
		case "default":
			if !null {
				v.Default = &value.Value
			}
		case "required":
			switch strings.ToLower(value.Value) {
			case "true", "yes", "on":
				v.Required = true
			case "false", "no", "off":
				optional = true
			default:
				wrong(fmt.Sprintf("%q is neither true nor false", value.Value), "write true or false")
			}
		case "choices":
			switch {
			case null:
			case value.Kind != yaml.SequenceNode || len(value.Content) == 0:
				wrong("it is not a list with values", "write [a, b], or leave the key out")
			default:
				v.Choices = r.choices(value.Content, above)
			}
		default:
			r.problem(at, fmt.Sprintf("variables: unknown key %q", key), "use name, description, default, required, choices", true)
		}
	}
	v.Required = v.Required || v.Default == nil && !optional
	r.admit(v, line)
}

// choices reads the choices of a variable.
func (r *Role) choices(items []*yaml.Node, above int) (all []string) {
	for _, c := range items {
		switch {
		case c.Kind != yaml.ScalarNode || strings.TrimSpace(c.Value) == "":
			r.problem(above+c.Line, "variables: choices: a choice is not text", "write one value", true)
		case slices.Contains(all, c.Value):
			r.problem(above+c.Line, fmt.Sprintf("variables: choices: %q is listed twice", c.Value), "keep one", true)
		default:
			all = append(all, c.Value)
		}
	}
	return all
}

// admit adds a variable to the role, unless its name can't be used.
func (r *Role) admit(v Variable, line int) {
	switch {
	case v.Name == "":
		r.problem(line, "variables: an entry has no name", "give it a `name`", true)
		return
	case variable().FindString("{{"+v.Name+"}}") == "" || len(v.Name) > 64:
		r.problem(line, fmt.Sprintf("variables: name %q", text.Ellipsis(v.Name, 60)), "use letters, digits, _ and -, the first a letter or _, at most 64", true)
		return
	case builtinVariable(v.Name):
		r.problem(line, fmt.Sprintf("variables: {{%s}} is filled in by jcode", v.Name), "use another name", true)
		return
	case slices.ContainsFunc(r.Variables, func(o Variable) bool { return o.Name == v.Name }):
		r.problem(line, fmt.Sprintf("variables: %q is listed twice", v.Name), "keep one", true)
		return
	}
	if v.Default != nil && !v.Refers() {
		if err := v.Allows(*v.Default); err != nil {
			r.problem(line, fmt.Sprintf("variables: %s: default: %v", v.Name, err), "", true)
		}
	}
	r.Variables = append(r.Variables, v)
}

// checkVariables checks the use of the variables, once the whole role is read. bodyLine is the
// line at which the body begins.
func (r *Role) checkVariables(bodyLine int) {
	if r.Variables == nil {
		return
	}
	unknown := func(line int, where, s string) {
		for _, m := range variable().FindAllStringSubmatchIndex(s, -1) {
			name := s[m[2]:m[3]]
			if s[m[0]] == '\\' || builtinVariable(name) || slices.ContainsFunc(r.Variables, func(v Variable) bool { return v.Name == name }) {
				continue
			}
			at := line
			if where == "" {
				at += strings.Count(s[:m[0]], "\n")
			}
			r.problem(at, fmt.Sprintf("%sthere is no variable {{%s}}%s", where, name, r.nearest(name)), `declare it, or write \{{`+name+"}} for the text itself", true)
		}
	}
	unknown(bodyLine, "", r.Body)
	line := r.Line("variables")
	for _, v := range r.Variables {
		if v.Default != nil {
			unknown(line, "variables: "+v.Name+": default: ", *v.Default)
		}
	}
	for _, s := range r.Servers {
		unknown(r.Line("mcp_servers"), "mcp_servers: ", s)
	}
	if circle := r.circle(); circle != nil {
		r.problem(line, "variables: the defaults refer to each other in a circle: "+strings.Join(circle, ", "), "give one of them a value of its own", true)
	}
}

// circle returns the names of variables whose defaults refer to each other, nil if none do.
func (r *Role) circle() []string {
	refers := map[string][]string{}
	for _, v := range r.Variables {
		if v.Default == nil {
			continue
		}
		for _, m := range variable().FindAllStringSubmatch(*v.Default, -1) {
			if m[0][0] != '\\' {
				refers[v.Name] = append(refers[v.Name], m[1])
			}
		}
	}
	var path []string
	done := map[string]bool{}
	var walk func(name string) []string
	walk = func(name string) []string {
		if i := slices.Index(path, name); i >= 0 {
			return append(slices.Clone(path[i:]), name)
		}
		if done[name] {
			return nil
		}
		path = append(path, name)
		for _, next := range refers[name] {
			if c := walk(next); c != nil {
				return c
			}
		}
		path = path[:len(path)-1]
		done[name] = true
		return nil
	}
	for _, v := range r.Variables {
		if c := walk(v.Name); c != nil {
			return c
		}
	}
	return nil
}
