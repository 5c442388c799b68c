package schema

import (
	"fmt"
	"slices"
	"strings"

	"jcode/internal/ordered"
)

// MaxDepth bounds the nesting that a schema may have.
const MaxDepth = 200

// maxPrint bounds the nesting that is printed: a schema and what replaced its references.
const maxPrint = 5 * MaxDepth

// A Node is a JSON value that keeps the order of members and numbers as they were
// written: *Object, []Node, string, json.Number, bool or nil.
type Node = any

// Object is a JSON object with its members in order.
type Object = ordered.Object

// NewObject returns an object without members.
func NewObject() *Object { return ordered.New() }

// Strings returns the strings of a member that is a list, each once: an object's required.
func Strings(o *Object, name string) []string {
	list, _ := o.Get(name).([]Node)
	var out []string
	for _, n := range list {
		if s, ok := n.(string); ok && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Parse reads one JSON value.
func Parse(data []byte) (Node, error) {
	return ordered.Decoder{MaxDepth: MaxDepth, Numbers: true}.Decode(data)
}

// Print writes a Node compactly.
func Print(v Node) []byte {
	raw, err := ordered.Encoder{MaxDepth: maxPrint}.Encode(v)
	if err != nil { // a Node contains nothing that JSON can't express
		return []byte("null")
	}
	return raw
}

// Clone copies a Node deeply.
func Clone(v Node) Node {
	switch v := v.(type) {
	case *Object:
		c := NewObject()
		for i := range v.Len() {
			name, member := v.At(i)
			c.Set(name, Clone(member))
		}
		return c
	case []Node:
		c := make([]Node, len(v))
		for i, e := range v {
			c[i] = Clone(e)
		}
		return c
	}
	return v
}

// Resolve follows a local reference such as `#/$defs/x` from root.
func Resolve(root Node, ref string) (Node, bool) {
	if ref == "#" || ref == "#/" {
		return root, true
	}
	rest, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, false
	}
	at := root
	for part := range strings.SplitSeq(rest, "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch v := at.(type) {
		case *Object:
			next, ok := v.Lookup(part)
			if !ok {
				return nil, false
			}
			at = next
		case []Node:
			i := 0
			if _, err := fmt.Sscanf(part, "%d", &i); err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			at = v[i]
		default:
			return nil, false
		}
	}
	return at, true
}
