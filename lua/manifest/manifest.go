package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"jcode/internal/ordered"
	"jcode/lua/wire"
)

// The names of the two files of a tool folder.
const (
	FileName = "mcp_tool.json"
	MainName = "main.lua"
)

// Limits of a manifest.
const (
	MaxSize        = 256 << 10 // bytes
	DefaultTimeout = 10 * time.Second
	MaxTimeout     = 120 * time.Second

	maxParameters = 32
)

// Manifest is the content of mcp_tool.json. It does not change after Parse has returned it.
type Manifest struct {
	Description string
	Parameters  []Parameter
	Permissions Permissions
	// ReadOnly says that the tool changes nothing, whatever its permissions allow.
	ReadOnly bool
	Timeout  time.Duration
	// Bounded says that the manifest names the timeout: it then bounds what the tool calls, too.
	Bounded bool
	// Always requires approval before each call.
	Always bool
	// Warnings are faults that do not keep the tool from loading.
	Warnings []string

	schema []byte
}

// None returns the manifest of a tool whose own could not be read.
func None() *Manifest { return &Manifest{Timeout: DefaultTimeout} }

// syntaxError is a fault with its position.
type syntaxError struct {
	file string
	line int // 0 = unknown
	text string
}

func (e *syntaxError) Error() string {
	if e.line == 0 {
		return e.file + ": " + e.text
	}
	return fmt.Sprintf("%s:%d: %s", e.file, e.line, e.text)
}

// reader parses the text of a manifest and knows the line of each key.
type reader struct {
	file string // as errors show it
	text []byte
}

func (r reader) fault(at, format string, args ...any) error {
	return &syntaxError{file: r.file, line: r.lineOf(at), text: fmt.Sprintf(format, args...)}
}

// lineOf returns the line of the first occurrence of a quoted text, 0 when there is none.
func (r reader) lineOf(quoted string) int {
	if quoted == "" {
		return 0
	}
	i := bytes.Index(r.text, []byte(`"`+quoted+`"`))
	if i < 0 {
		return 0
	}
	return 1 + bytes.Count(r.text[:i], []byte("\n"))
}

// Parse reads the text of mcp_tool.json: JSON with comments and trailing commas. file is the
// name that errors show.
func Parse(file string, text []byte) (*Manifest, error) {
	r := reader{file: file, text: text}
	o, err := r.object()
	if err != nil {
		return nil, err
	}
	m := &Manifest{Timeout: DefaultTimeout}
	for i := range o.Len() {
		key, v := o.At(i)
		if err := r.field(m, key, v); err != nil {
			return nil, err
		}
	}
	if m.Description == "" {
		return nil, r.fault("", `"description" is required: say what the tool does, the model reads it`)
	}
	if m.schema, err = encodeSchema(m.Parameters); err != nil {
		return nil, r.fault("parameters", `"parameters": %v`, err)
	}
	return m, nil
}

func (r reader) object() (*wire.Object, error) {
	if len(r.text) > MaxSize {
		return nil, r.fault("", "the manifest has %d KiB, at most %d are allowed", len(r.text)>>10, MaxSize>>10)
	}
	std, err := hujson.Standardize(bytes.Clone(r.text))
	if err != nil {
		line, text := cutPlace(err)
		return nil, &syntaxError{file: r.file, line: line, text: text}
	}
	v, err := wire.DecodeUnique(std)
	if err != nil {
		var s *ordered.SyntaxError
		line := 0
		if errors.As(err, &s) {
			line = 1 + bytes.Count(std[:min(s.Offset, len(std))], []byte("\n"))
		}
		return nil, &syntaxError{file: r.file, line: line, text: err.Error()}
	}
	o, ok := v.(*wire.Object)
	if !ok {
		return nil, r.fault("", "the manifest must be a JSON object")
	}
	return o, nil
}

// cutPlace splits an error of hujson, "hujson: line 3, column 4: text", into line and text.
func cutPlace(err error) (line int, text string) {
	text = strings.TrimPrefix(err.Error(), "hujson: ")
	var column int
	if n, _ := fmt.Sscanf(text, "line %d, column %d:", &line, &column); n == 2 {
		_, text, _ = strings.Cut(text, ": ")
	}
	return line, text
}

func (r reader) field(m *Manifest, key string, v any) (err error) {
	switch key {
	case "description":
		m.Description, err = r.nonEmpty(key, v)
	case "parameters":
		m.Parameters, err = r.parameters(v)
	case "permissions":
		o, ok := v.(*wire.Object)
		if !ok {
			return r.fault(key, `"permissions" must be an object`)
		}
		m.Permissions, err = parsePermissions(o, false)
		if err != nil {
			return r.fault(keyOf(err), "%s", err.Error())
		}
	case "read_only":
		var ok bool
		if m.ReadOnly, ok = v.(bool); !ok {
			return r.fault(key, `"read_only" must be true or false`)
		}
	case "timeout_ms":
		n, ok := v.(float64)
		if m.Timeout = time.Duration(n) * time.Millisecond; !ok || n < 1 || m.Timeout > MaxTimeout {
			return r.fault(key, `"timeout_ms" must be a number from 1 to %d`, MaxTimeout.Milliseconds())
		}
		m.Bounded = true
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

func (r reader) nonEmpty(key string, v any) (string, error) {
	s, ok := v.(string)
	if !ok || strings.TrimSpace(s) == "" {
		return "", r.fault(key, "%q must be a text that is not empty", key)
	}
	return s, nil
}
