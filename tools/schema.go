package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"jcode/internal/jsonerr"
)

// schema checks a tool's arguments. It is compiled on first use.
type schema struct {
	raw      json.RawMessage
	once     sync.Once
	root     node
	resolved *jsonschema.Resolved // nil if the schema itself is invalid: then only root is checked
}

// node is the part of a JSON Schema that repair uses.
type node struct {
	Type       any             `json:"type"`
	Properties map[string]node `json:"properties"`
	Items      *node           `json:"items"`
	Required   []string        `json:"required"`
	Enum       []any           `json:"enum"`
	AnyOf      []node          `json:"anyOf"`
	OneOf      []node          `json:"oneOf"`
	AllOf      []node          `json:"allOf"`
}

func (s *schema) compile() {
	s.once.Do(func() {
		// Of a schema with invalid keywords, the others still count: decoding continues after a
		// value of the wrong type.
		var odd *json.UnmarshalTypeError
		if err := json.Unmarshal(s.raw, &s.root); err != nil && !errors.As(err, &odd) {
			s.root = node{Type: "object"}
		}
		var js jsonschema.Schema
		if err := json.Unmarshal(s.raw, &js); err != nil {
			return
		}
		if r, err := js.Resolve(nil); err == nil {
			s.resolved = r
		}
	})
}

// repair converts what a model wrote to arguments that match the schema, as far as that is
// possible without guessing: known aliases, values of another JSON type with the same meaning
// ("20" for 20, a JSON text for an array), absent arguments as {}. The error says what is wrong
// and what the schema requires.
func (s *schema) repair(raw json.RawMessage, aliases map[string]string) (json.RawMessage, error) {
	s.compile()
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 || bytes.Equal(trimmed, []byte("null")) || bytes.Equal(trimmed, []byte(`""`)) {
		trimmed = []byte("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(trimmed))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, Errorf(KindInvalidArgs, "the arguments are not valid JSON (%v); the call was not run. Send a JSON object that fits this schema: %s", jsonFault(err), s.brief())
	}
	if dec.More() {
		return nil, Errorf(KindInvalidArgs, "the arguments hold more than one JSON value; the call was not run. Send one JSON object that fits this schema: %s", s.brief())
	}
	if text, ok := value.(string); ok { // an object that was encoded twice
		var inner map[string]any
		if decodeNumber(text, &inner) == nil && inner != nil {
			value = inner
		}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, Errorf(KindInvalidArgs, "the arguments must be a JSON object, not %s; the call was not run. Schema: %s", typeName(value), s.brief())
	}
	changed := !bytes.HasPrefix(trimmed, []byte("{"))
	for from, to := range aliases {
		v, has := object[from]
		if _, taken := object[to]; has && !taken {
			if _, own := s.root.Properties[from]; !own {
				object[to] = v
				delete(object, from)
				changed = true
			}
		}
	}
	if s.root.coerceObject(object) {
		changed = true
	}
	if !changed {
		return trimmed, nil
	}
	out, err := json.Marshal(object)
	if err != nil {
		return nil, Errorf(KindInvalidArgs, "encode arguments: %w", err)
	}
	return out, nil
}

// validate checks repaired arguments.
func (s *schema) validate(raw json.RawMessage) error {
	s.compile()
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		return Errorf(KindInvalidArgs, "the arguments are not a JSON object: %w", jsonerr.Plain(err))
	}
	for _, key := range s.root.Required {
		if _, ok := object[key]; !ok {
			return Errorf(KindInvalidArgs, "missing required argument: %s. Schema: %s", key, s.brief())
		}
	}
	for name, prop := range s.root.Properties {
		v, ok := object[name]
		if !ok {
			continue
		}
		if want := prop.types(); len(want) > 0 && !fits(v, want) {
			return Errorf(KindInvalidArgs, "argument %s must be %s, not %s. Schema: %s", name, strings.Join(want, " or "), typeName(v), s.brief())
		}
		if len(prop.Enum) > 0 && !contains(prop.Enum, v) {
			return Errorf(KindInvalidArgs, "argument %s must be one of %s", name, compact(prop.Enum))
		}
	}
	if s.resolved == nil {
		return nil
	}
	if err := s.resolved.Validate(object); err != nil {
		return Errorf(KindInvalidArgs, "the arguments do not fit the schema: %v. Schema: %s", err, s.brief())
	}
	return nil
}

// brief returns the schema for an error message, at most 2,000 bytes.
func (s *schema) brief() string {
	var buf bytes.Buffer
	if json.Compact(&buf, s.raw) != nil {
		return "(unreadable)"
	}
	if buf.Len() > 2000 {
		return strings.ToValidUTF8(buf.String()[:2000], "") + "…"
	}
	return buf.String()
}

func (n node) coerceObject(object map[string]any) bool {
	changed := false
	for name, prop := range n.Properties {
		v, ok := object[name]
		if !ok {
			continue
		}
		if v == nil && !fits(v, prop.types()) && len(prop.types()) > 0 {
			delete(object, name) // an absent argument, spelled out
			changed = true
			continue
		}
		if nv, ok := prop.coerce(v); ok {
			object[name] = nv
			changed = true
		}
	}
	return changed
}

// coerce returns v in the type that the schema requires, and whether that changed it.
func (n node) coerce(v any) (any, bool) {
	want := n.types()
	if number, ok := v.(json.Number); ok && n.wholeNumbers() {
		return integer(number)
	}
	if len(want) > 0 && !fits(v, want) {
		for _, t := range want {
			if nv, ok := convert(v, t); ok {
				n.coerce(nv) // its inside, in place
				return nv, true
			}
		}
		return v, false
	}
	switch v := v.(type) {
	case map[string]any:
		return v, n.coerceObject(v)
	case []any:
		changed := false
		if n.Items != nil {
			for i := range v {
				if nv, ok := n.Items.coerce(v[i]); ok {
					v[i], changed = nv, true
				}
			}
		}
		return v, changed
	}
	return v, false
}

// wholeNumbers reports whether the numbers that a node allows are integers, directly or by one of
// its alternatives.
func (n node) wholeNumbers() bool {
	whole := false
	for _, t := range n.types() {
		if t == "number" {
			return false
		}
		whole = whole || t == "integer"
	}
	for _, list := range [][]node{n.AnyOf, n.OneOf, n.AllOf} {
		for _, alternative := range list {
			if slices.Contains(alternative.types(), "number") {
				return false
			}
			whole = whole || alternative.wholeNumbers()
		}
	}
	return whole
}

// types lists the JSON types that a node allows; empty means any.
func (n node) types() []string {
	switch t := n.Type.(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, x := range t {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// jsonFault shortens a decoding error to the useful part.
func jsonFault(err error) string {
	text := err.Error()
	if text == "unexpected EOF" || text == "EOF" || strings.Contains(text, "unexpected end of JSON") {
		return "cut off: the JSON ends before it is complete"
	}
	return text
}
