package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"jcode/internal/jsonerr"
)

// schema checks a tool's arguments. It is compiled at its first use.
type schema struct {
	raw      json.RawMessage
	once     sync.Once
	root     node
	resolved *jsonschema.Resolved // nil when the schema itself is faulty: then only root is checked
}

// node is the part of a JSON Schema that repair looks at.
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
		// A schema with odd keywords keeps what could be read of it: decoding goes on after a
		// value of another type.
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

// repair turns what a model wrote into arguments that fit the schema as far as that can
// be done without guessing: known aliases, values of another JSON type that hold the
// same thing ("20" for 20, a JSON text for an array), absent arguments as {}. The error
// states what is wrong and what the schema wants.
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

// brief is the schema as an error shows it, at most 2,000 bytes.
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

// coerce gives v in the type that the schema wants, and whether that changed it.
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

// wholeNumbers reports whether the numbers that a node allows are integers, by itself or by
// one of its alternatives.
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

// integer writes a whole number without fraction and exponent, as decoders want it: 1.0 and
// 1e2 are integers in JSON Schema.
func integer(n json.Number) (any, bool) {
	if !strings.ContainsAny(n.String(), ".eE") {
		return n, false
	}
	f, err := n.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return n, false
	}
	return json.Number(strconv.FormatInt(int64(f), 10)), true
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

// convert reads v as another JSON type where both mean the same.
func convert(v any, want string) (any, bool) {
	text, isText := v.(string)
	switch want {
	case "integer", "number":
		if !isText {
			return nil, false
		}
		t := strings.TrimSpace(text)
		f, err := strconv.ParseFloat(t, 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || (want == "integer" && f != math.Trunc(f)) {
			return nil, false
		}
		if i, err := strconv.ParseInt(t, 10, 64); err == nil {
			return json.Number(strconv.FormatInt(i, 10)), true
		}
		return json.Number(strconv.FormatFloat(f, 'f', -1, 64)), true
	case "boolean":
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true":
			return true, isText
		case "false":
			return false, isText
		}
	case "string":
		switch x := v.(type) {
		case json.Number:
			return x.String(), true
		case bool:
			return strconv.FormatBool(x), true
		}
	case "array":
		if !isText {
			return nil, false
		}
		var list []any
		if decodeNumber(text, &list) == nil && list != nil {
			return list, true
		}
	case "object":
		if !isText {
			return nil, false
		}
		var object map[string]any
		if decodeNumber(text, &object) == nil && object != nil {
			return object, true
		}
	}
	return nil, false
}

// fits reports whether v is of one of the JSON types; an empty list fits all.
func fits(v any, want []string) bool {
	if len(want) == 0 {
		return true
	}
	for _, t := range want {
		switch x := v.(type) {
		case nil:
			if t == "null" {
				return true
			}
		case bool:
			if t == "boolean" {
				return true
			}
		case string:
			if t == "string" {
				return true
			}
		case json.Number:
			f, err := x.Float64()
			if t == "number" || (t == "integer" && err == nil && f == math.Trunc(f)) {
				return true
			}
		case float64:
			if t == "number" || (t == "integer" && x == math.Trunc(x)) {
				return true
			}
		case []any:
			if t == "array" {
				return true
			}
		case map[string]any:
			if t == "object" {
				return true
			}
		}
	}
	return false
}

func decodeNumber(text string, v any) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if dec.More() {
		return fmt.Errorf("trailing data")
	}
	return nil
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case float64, json.Number:
		return "a number"
	case []any:
		return "an array"
	}
	return "an object"
}

func contains(list []any, v any) bool {
	want := compact(v)
	for _, x := range list {
		if compact(x) == want {
			return true
		}
	}
	return false
}

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// jsonFault shortens a decoding error to what helps.
func jsonFault(err error) string {
	text := err.Error()
	if text == "unexpected EOF" || text == "EOF" || strings.Contains(text, "unexpected end of JSON") {
		return "cut off: the JSON ends before it is complete"
	}
	return text
}
