package manifest

import (
	"slices"
	"strings"

	"jcode/lua/wire"
)

// Parameter is one parameter of a tool. A script finds its value in a global of its name.
type Parameter struct {
	Name        string
	Type        string
	Description string
	Required    bool
	Default     any // nil when there is none
	HasDefault  bool
	Enum        []any
	Items       any
}

var parameterTypes = []string{"string", "number", "boolean", "integer", "array", "object"}

func (r reader) parameters(v any) ([]Parameter, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, r.fault("parameters", `"parameters" must be an array of {name, type, description}`)
	}
	if len(list) > maxParameters {
		return nil, r.fault("parameters", "%d parameters, at most %d are allowed", len(list), maxParameters)
	}
	var out []Parameter
	for i, item := range list {
		o, ok := item.(*wire.Object)
		if !ok {
			return nil, r.fault("parameters", "parameter %d must be an object", i+1)
		}
		p, err := r.parameter(o)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(q Parameter) bool { return q.Name == p.Name }) {
			return nil, r.fault(p.Name, "parameter %q is declared twice", p.Name)
		}
		out = append(out, p)
	}
	return out, nil
}

func (r reader) parameter(o *wire.Object) (Parameter, error) {
	p := Parameter{Name: o.String("name"), Type: "string", Required: true}
	if why := badParameterName(p.Name); why != "" {
		return p, r.fault(p.Name, "parameter name %q: %s", p.Name, why)
	}
	for i := range o.Len() {
		key, v := o.At(i)
		ok := true
		switch key {
		case "name":
		case "type":
			p.Type, ok = v.(string)
			ok = ok && slices.Contains(parameterTypes, p.Type)
			if !ok {
				return p, r.fault(p.Name, "parameter %q: type must be one of %s", p.Name, strings.Join(parameterTypes, ", "))
			}
		case "description":
			p.Description, ok = v.(string)
		case "required":
			p.Required, ok = v.(bool)
		case "default":
			p.Default, p.HasDefault = v, v != nil
		case "enum":
			p.Enum, ok = v.([]any)
		case "items":
			p.Items = v
		}
		if !ok {
			return p, r.fault(p.Name, "parameter %q: %q has the wrong type", p.Name, key)
		}
	}
	return p, nil
}

var keywords = []string{
	"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not", "or",
	"repeat", "return", "then", "true", "until", "while",
}

// globals are the names in the environment of a tool: a parameter must not hide one.
var globals = []string{
	"assert", "error", "ipairs", "next", "pairs", "pcall", "xpcall", "rawequal", "rawget", "select", "tonumber", "tostring", "type",
	"unpack", "getmetatable", "setmetatable", "string", "table", "math", "coroutine", "_VERSION", "_G",
	"jcode", "orcs", "tools", "state", "http", "fs", "json", "regex", "print", "params", "require",
}

// wordBytes are the letters, digits and the underscore of identifiers.
const wordBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// ToolNames says in words what IsToolName accepts.
const ToolNames = "use letters, digits, _ and - (at most 64), not beginning with mcp__"

// IsToolName reports whether a name is valid for a tool, and so for a tool folder.
func IsToolName(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, wordBytes+"-") == "" && !strings.HasPrefix(s, "mcp__")
}

// isIdentifier reports whether s is a Lua name.
func isIdentifier(s string) bool {
	return s != "" && strings.Trim(s, wordBytes) == "" && (s[0] < '0' || s[0] > '9')
}

// badParameterName returns what is wrong with the name of a parameter, "" when nothing is.
func badParameterName(name string) string {
	switch {
	case name == "":
		return "a name is required"
	case !isIdentifier(name):
		return "it must be a Lua identifier, because it becomes a global variable"
	case slices.Contains(keywords, name):
		return "this is a Lua keyword"
	case slices.Contains(globals, name):
		return "this name is a global already"
	}
	return ""
}

// Schema returns the JSON Schema of the parameters, in the order in which they are declared.
func (m *Manifest) Schema() []byte {
	if m.schema == nil {
		return []byte(`{"type":"object","properties":{}}`)
	}
	return m.schema
}

func encodeSchema(list []Parameter) ([]byte, error) {
	props := &wire.Object{}
	var required []any
	for _, p := range list {
		s := wire.NewObject("type", p.Type)
		if p.Description != "" {
			s.Set("description", p.Description)
		}
		if p.HasDefault {
			s.Set("default", p.Default)
		}
		if p.Enum != nil {
			s.Set("enum", p.Enum)
		}
		if p.Items != nil {
			s.Set("items", p.Items)
		}
		props.Set(p.Name, s)
		if p.Required && !p.HasDefault {
			required = append(required, p.Name)
		}
	}
	return ObjectSchema(props, required)
}

// ObjectSchema returns the JSON Schema of an object with these properties, required being names of some.
func ObjectSchema(props *wire.Object, required []any) ([]byte, error) {
	o := wire.NewObject("type", "object", "properties", props)
	if required != nil {
		o.Set("required", required)
	}
	return wire.EncodeJSON(o, false)
}
