package lua

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"jcode/lua/wire"
)

// Names of the two files of a tool folder.
const (
	manifestName = "mcp_tool.json"
	mainName     = "main.lua"
)

// Limits of a manifest.
const (
	maxManifest    = 256 << 10
	maxSource      = 256 << 10
	maxParameters  = 32
	defaultTimeout = 10 * time.Second
	maxTimeout     = 120 * time.Second
)

// manifest is what mcp_tool.json says.
type manifest struct {
	Description string
	Parameters  []parameter
	Permissions permissions
	ReadOnly    bool
	Timeout     time.Duration
	Always      bool
	// Warnings are faults that do not keep the tool from loading.
	Warnings []string
}

// parameter is one parameter of a tool.
type parameter struct {
	Name        string
	Type        string
	Description string
	Required    bool
	Default     any // nil = none
	hasDefault  bool
	Enum        []any
	Items       any
}

// manifestError is a fault with its place.
type manifestError struct {
	file string
	line int // 0 = unknown
	text string
}

func (e *manifestError) Error() string {
	if e.line == 0 {
		return e.file + ": " + e.text
	}
	return fmt.Sprintf("%s:%d: %s", e.file, e.line, e.text)
}

// manifestReader turns text into a manifest and remembers where things are.
type manifestReader struct {
	file string // as errors show it
	text []byte
}

func (r manifestReader) fault(at, format string, args ...any) error {
	return &manifestError{file: r.file, line: r.lineOf(at), text: fmt.Sprintf(format, args...)}
}

// lineOf finds the line of a quoted text, 0 if it is not there.
func (r manifestReader) lineOf(quoted string) int {
	if quoted == "" {
		return 0
	}
	i := bytes.Index(r.text, []byte(`"`+quoted+`"`))
	if i < 0 {
		return 0
	}
	return 1 + bytes.Count(r.text[:i], []byte("\n"))
}

// parseManifest reads the text of mcp_tool.json: JSON with comments and trailing commas.
func parseManifest(file string, text []byte) (*manifest, error) {
	r := manifestReader{file: file, text: text}
	o, err := r.object()
	if err != nil {
		return nil, err
	}
	m := &manifest{Timeout: defaultTimeout}
	for i := range o.Len() {
		key, v := o.At(i)
		if err := r.field(m, key, v); err != nil {
			return nil, err
		}
	}
	if m.Description == "" {
		return nil, r.fault("", `"description" is required: say what the tool does, the model reads it`)
	}
	return m, nil
}

func (r manifestReader) object() (*wire.Object, error) {
	if len(r.text) > maxManifest {
		return nil, r.fault("", "the manifest has %d KiB, at most %d are allowed", len(r.text)>>10, maxManifest>>10)
	}
	std, err := hujson.Standardize(bytes.Clone(r.text))
	if err != nil {
		line, text := cutPlace(err)
		return nil, &manifestError{file: r.file, line: line, text: text}
	}
	v, err := wire.DecodeJSON(std)
	if err != nil {
		var s *wire.SyntaxError
		line := 0
		if errors.As(err, &s) {
			line = 1 + bytes.Count(std[:min(s.Offset, len(std))], []byte("\n"))
		}
		return nil, &manifestError{file: r.file, line: line, text: err.Error()}
	}
	o, ok := v.(*wire.Object)
	if !ok {
		return nil, r.fault("", "the manifest must be a JSON object")
	}
	return o, nil
}

// cutPlace takes hujson's own place off an error: "hujson: line 3, column 4: text".
func cutPlace(err error) (line int, text string) {
	text = strings.TrimPrefix(err.Error(), "hujson: ")
	var column int
	if n, _ := fmt.Sscanf(text, "line %d, column %d:", &line, &column); n == 2 {
		_, text, _ = strings.Cut(text, ": ")
	}
	return line, text
}

func (r manifestReader) field(m *manifest, key string, v any) (err error) {
	switch key {
	case "description":
		m.Description, err = r.text1(key, v)
	case "parameters":
		m.Parameters, err = r.parameters(v)
	case "permissions":
		o, ok := v.(*wire.Object)
		if !ok {
			return r.fault(key, `"permissions" must be an object`)
		}
		m.Permissions, err = parsePermissions(o, false)
		if err != nil {
			return r.fault(quotedIn(err), "%s", err.Error())
		}
	case "read_only":
		var ok bool
		if m.ReadOnly, ok = v.(bool); !ok {
			return r.fault(key, `"read_only" must be true or false`)
		}
	case "timeout_ms":
		n, ok := v.(float64)
		if m.Timeout = time.Duration(n) * time.Millisecond; !ok || n < 1 || m.Timeout > maxTimeout {
			return r.fault(key, `"timeout_ms" must be a number from 1 to %d`, maxTimeout.Milliseconds())
		}
	case "approval":
		if v != "always" {
			return r.fault(key, `"approval" can only be "always"`)
		}
		m.Always = true
	default:
		m.Warnings = append(m.Warnings, r.fault(key, "unknown key %q is ignored", key).Error())
	}
	return err
}

func (r manifestReader) text1(key string, v any) (string, error) {
	s, ok := v.(string)
	if !ok || strings.TrimSpace(s) == "" {
		return "", r.fault(key, "%q must be a text that is not empty", key)
	}
	return s, nil
}

var parameterTypes = []string{"string", "number", "boolean", "integer", "array", "object"}

func (r manifestReader) parameters(v any) ([]parameter, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, r.fault("parameters", `"parameters" must be an array of {name, type, description}`)
	}
	if len(list) > maxParameters {
		return nil, r.fault("parameters", "%d parameters, at most %d are allowed", len(list), maxParameters)
	}
	var out []parameter
	for i, item := range list {
		o, ok := item.(*wire.Object)
		if !ok {
			return nil, r.fault("parameters", "parameter %d must be an object", i+1)
		}
		p, err := r.parameter(o)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(q parameter) bool { return q.Name == p.Name }) {
			return nil, r.fault(p.Name, "parameter %q is declared twice", p.Name)
		}
		out = append(out, p)
	}
	return out, nil
}

func (r manifestReader) parameter(o *wire.Object) (parameter, error) {
	p := parameter{Name: o.String("name"), Type: "string", Required: true}
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
			p.Default, p.hasDefault = v, v != nil
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

// globals are the names that a tool's environment has: a parameter must not hide one.
var globals = []string{
	"assert", "error", "ipairs", "next", "pairs", "pcall", "xpcall", "rawequal", "rawget", "select", "tonumber", "tostring", "type",
	"unpack", "getmetatable", "setmetatable", "string", "table", "math", "coroutine", "_VERSION", "_G",
	"jcode", "orcs", "tools", "state", "http", "fs", "json", "regex", "print", "params", "require",
}

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

// schema is the JSON Schema of the parameters, in the order in which they are declared.
func (m *manifest) schema() []byte {
	props := &wire.Object{}
	var required []any
	for _, p := range m.Parameters {
		s := wire.NewObject("type", p.Type)
		if p.Description != "" {
			s.Set("description", p.Description)
		}
		if p.hasDefault {
			s.Set("default", p.Default)
		}
		if p.Enum != nil {
			s.Set("enum", p.Enum)
		}
		if p.Items != nil {
			s.Set("items", p.Items)
		}
		props.Set(p.Name, s)
		if p.Required && !p.hasDefault {
			required = append(required, p.Name)
		}
	}
	o := wire.NewObject("type", "object", "properties", props)
	if required != nil {
		o.Set("required", required)
	}
	raw, err := wire.EncodeJSON(o, false)
	if err != nil {
		return []byte(`{"type":"object","properties":{}}`)
	}
	return raw
}
