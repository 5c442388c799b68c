package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxJSONDepth bounds the nesting that a schema may have.
const maxJSONDepth = 200

// A node is a JSON value that keeps the order of members and numbers as they were
// written: *object, []node, string, json.Number, bool or nil.
type node = any

// object is a JSON object with its members in order. Names are unique; of members with
// one name the last value counts, at the place of the first.
type object struct {
	names  []string
	values map[string]node
}

func newObject() *object { return &object{values: map[string]node{}} }

func (o *object) get(name string) (node, bool) {
	v, ok := o.values[name]
	return v, ok
}

func (o *object) set(name string, v node) {
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = v
}

func (o *object) drop(names ...string) {
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

// text gives a member that is a string, else "".
func (o *object) text(name string) string {
	s, _ := o.values[name].(string)
	return s
}

// child gives a member that is an object, else nil.
func (o *object) child(name string) *object {
	c, _ := o.values[name].(*object)
	return c
}

// parseJSON reads one JSON value.
func parseJSON(data []byte) (node, error) {
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

func parseValue(dec *json.Decoder, depth int) (node, error) {
	if depth > maxJSONDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxJSONDepth)
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
		list := []node{}
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
	obj := newObject()
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		v, err := parseValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		obj.set(name.(string), v)
	}
	_, err = dec.Token()
	return obj, err
}

// printJSON writes a node compactly.
func printJSON(v node) []byte {
	var b bytes.Buffer
	writeNode(&b, v)
	return b.Bytes()
}

func writeNode(b *bytes.Buffer, v node) {
	switch v := v.(type) {
	case *object:
		b.WriteByte('{')
		for i, name := range v.names {
			if i > 0 {
				b.WriteByte(',')
			}
			writeString(b, name)
			b.WriteByte(':')
			writeNode(b, v.values[name])
		}
		b.WriteByte('}')
	case []node:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			writeNode(b, e)
		}
		b.WriteByte(']')
	case string:
		writeString(b, v)
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

func writeString(b *bytes.Buffer, s string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	// A string always encodes; the encoder ends it with a newline.
	_ = enc.Encode(s)
	b.Truncate(b.Len() - 1)
}

// cloneNode copies a node deeply.
func cloneNode(v node) node {
	switch v := v.(type) {
	case *object:
		c := newObject()
		for _, name := range v.names {
			c.set(name, cloneNode(v.values[name]))
		}
		return c
	case []node:
		c := make([]node, len(v))
		for i, e := range v {
			c[i] = cloneNode(e)
		}
		return c
	}
	return v
}

// resolvePointer follows a local reference such as `#/$defs/x` from root.
func resolvePointer(root node, ref string) (node, bool) {
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
		case *object:
			next, ok := v.get(part)
			if !ok {
				return nil, false
			}
			at = next
		case []node:
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
