package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

const (
	// unfold is how often a definition is expanded within itself.
	unfold = 2
	// maxParts bounds the total expansion: definitions that refer to each other grow quickly.
	maxParts = 2000
)

// Simple returns a schema without references: each local `$ref` is replaced by its target, a definition
// within itself twice and then by its bare type; one that leads elsewhere or nowhere by `{}`, which accepts
// everything. `format` and look-around patterns are removed, a `const` becomes an `enum` of one, and a
// `default` beside `anyOf` is removed. Anything but a JSON object is returned unchanged.
func Simple(raw json.RawMessage) json.RawMessage {
	parsed, err := Parse(raw)
	root, ok := parsed.(*Object)
	if err != nil || !ok {
		return raw
	}
	s := simplifier{root: root}
	out, ok := s.schema(root, 0).(*Object)
	if !ok {
		return raw
	}
	return Print(out)
}

// IsSimple reports whether Simple would leave a schema unchanged. It does not parse JSON, so a word in a
// description is enough for false.
func IsSimple(raw json.RawMessage) bool {
	text := string(raw)
	for _, word := range []string{`"$ref"`, `"$defs"`, `"definitions"`, `"format"`, `"const"`} {
		if strings.Contains(text, word) {
			return false
		}
	}
	return !hasLookAround(text) && (!strings.Contains(text, `"default"`) || !strings.Contains(text, `"anyOf"`))
}

func hasLookAround(pattern string) bool {
	return slices.ContainsFunc([]string{"(?=", "(?!", "(?<=", "(?<!"}, func(s string) bool { return strings.Contains(pattern, s) })
}

// simplifier expands the references of one schema.
type simplifier struct {
	root  *Object
	open  []string // the references that are being expanded
	parts int
}

func (s *simplifier) schema(n Node, depth int) Node {
	o, ok := n.(*Object)
	if !ok {
		return n
	}
	if s.parts++; s.parts > maxParts || depth > MaxDepth {
		return bare(o)
	}
	if ref, has := o.Lookup("$ref"); has {
		return s.reference(o, ref, depth)
	}
	out := NewObject()
	for i := range o.Len() {
		name, v := o.At(i)
		switch name {
		case "$defs", "definitions", "format":
			continue
		case "pattern":
			if text, ok := v.(string); ok && hasLookAround(text) {
				continue
			}
		case "const":
			if _, has := o.Lookup("enum"); !has {
				out.Set("enum", []Node{v})
			}
			continue
		case "default":
			if _, has := o.Lookup("anyOf"); has {
				continue
			}
		}
		switch Holds(name) {
		case One:
			v = s.one(v, depth)
		case List:
			v = s.list(v, depth)
		case Map:
			v = s.byName(v, depth)
		case Data:
		}
		out.Set(name, v)
	}
	return out
}

// reference returns the target of a reference, with the annotations beside it.
func (s *simplifier) reference(o *Object, ref Node, depth int) Node {
	text, _ := ref.(string)
	target, ok := Resolve(s.root, text)
	named, isObject := target.(*Object)
	if !ok || !isObject {
		return NewObject()
	}
	out := bare(named)
	if count(s.open, text) < unfold {
		s.open = append(s.open, text)
		if whole, ok := s.schema(named, depth+1).(*Object); ok {
			out = whole
		}
		s.open = s.open[:len(s.open)-1]
	}
	for _, label := range []string{"title", "description"} {
		if v, has := o.Lookup(label); has {
			out.Set(label, v)
		}
	}
	return out
}

func count(list []string, text string) int {
	n := 0
	for _, s := range list {
		if s == text {
			n++
		}
	}
	return n
}

// bare returns a schema with only its type.
func bare(o *Object) *Object {
	out := NewObject()
	switch kind := o.String("type"); kind {
	case "array":
		out.Set("type", kind)
		out.Set("items", NewObject())
	case "string", "number", "integer", "boolean", "null":
		out.Set("type", kind)
	default:
		out.Set("type", "object")
	}
	return out
}

func (s *simplifier) one(v Node, depth int) Node {
	if list, ok := v.([]Node); ok { // `items` of older drafts
		return s.list(list, depth)
	}
	return s.schema(v, depth+1)
}

func (s *simplifier) list(v Node, depth int) Node {
	list, ok := v.([]Node)
	if !ok {
		return v
	}
	out := make([]Node, len(list))
	for i, e := range list {
		out[i] = s.schema(e, depth+1)
	}
	return out
}

func (s *simplifier) byName(v Node, depth int) Node {
	m, ok := v.(*Object)
	if !ok {
		return v
	}
	out := NewObject()
	for i := range m.Len() {
		name, v := m.At(i)
		out.Set(name, s.schema(v, depth+1))
	}
	return out
}
