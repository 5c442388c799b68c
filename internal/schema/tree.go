package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// MaxDepth bounds the nesting that a schema may have.
const MaxDepth = 200

// A Node is a JSON value that keeps the order of members and numbers as they were
// written: *Object, []Node, string, json.Number, bool or nil.
type Node = any

// Object is a JSON object with its members in order. Names are unique; of members with
// one name the last value counts, at the place of the first.
type Object struct {
	names  []string
	values map[string]Node
}

// NewObject returns an object without members.
func NewObject() *Object { return &Object{values: map[string]Node{}} }

// Names lists the members in order. The slice is the object's own: Drop changes it.
func (o *Object) Names() []string { return o.names }

// Get returns a member and whether there is one.
func (o *Object) Get(name string) (Node, bool) {
	v, ok := o.values[name]
	return v, ok
}

// At returns a member, nil where there is none.
func (o *Object) At(name string) Node { return o.values[name] }

// Set sets the value of a member; a new one comes last.
func (o *Object) Set(name string, v Node) {
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = v
}

// Drop removes members.
func (o *Object) Drop(names ...string) {
	for _, name := range names {
		if _, ok := o.values[name]; !ok {
			continue
		}
		delete(o.values, name)
		for i, n := range o.names {
			if n == name {
				o.names = append(o.names[:i:i], o.names[i+1:]...)
				break
			}
		}
	}
}

// Text returns a member that is a string, else "".
func (o *Object) Text(name string) string {
	s, _ := o.values[name].(string)
	return s
}

// Strings returns the strings of a member that is a list, each once: an object's required.
func (o *Object) Strings(name string) []string {
	list, _ := o.values[name].([]Node)
	var out []string
	for _, n := range list {
		if s, ok := n.(string); ok && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Child returns a member that is an object, else nil.
func (o *Object) Child(name string) *Object {
	c, _ := o.values[name].(*Object)
	return c
}

// Parse reads one JSON value.
func Parse(data []byte) (Node, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := parseValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

func parseValue(dec *json.Decoder, depth int) (Node, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("nested deeper than %d", MaxDepth)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return tok, nil
	}
	if delim == '[' {
		list := []Node{}
		for dec.More() {
			v, err := parseValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		return list, err
	}
	obj := NewObject()
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		v, err := parseValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		obj.Set(name.(string), v)
	}
	_, err = dec.Token()
	return obj, err
}

// Print writes a Node compactly.
func Print(v Node) []byte {
	var b bytes.Buffer
	writeNode(&b, v)
	return b.Bytes()
}

func writeNode(b *bytes.Buffer, v Node) {
	switch v := v.(type) {
	case *Object:
		b.WriteByte('{')
		for i, name := range v.names {
			if i > 0 {
				b.WriteByte(',')
			}
			WriteString(b, name)
			b.WriteByte(':')
			writeNode(b, v.values[name])
		}
		b.WriteByte('}')
	case []Node:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			writeNode(b, e)
		}
		b.WriteByte(']')
	case string:
		WriteString(b, v)
	case json.Number:
		b.WriteString(v.String())
	case bool:
		if v {
			b.WriteString("true")
		} else {
			b.WriteString("false")
		}
	default:
		b.WriteString("null")
	}
}

// WriteString writes a string as JSON, without escapes for HTML.
func WriteString(b *bytes.Buffer, s string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	// A string always encodes; the encoder ends it with a newline.
	_ = enc.Encode(s)
	b.Truncate(b.Len() - 1)
}

// Clone copies a Node deeply.
func Clone(v Node) Node {
	switch v := v.(type) {
	case *Object:
		c := NewObject()
		for _, name := range v.names {
			c.Set(name, Clone(v.values[name]))
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
			next, ok := v.Get(part)
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
