package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Schema returns the JSON Schema of config.json, generated from the types, in the order of the fields.
func Schema() ([]byte, error) {
	root := structSchema(reflect.TypeFor[Config]())
	root.front("$schema", "https://json-schema.org/draft/2020-12/schema")
	root.front("title", "jcode configuration")
	root.property("$schema", map[string]any{"type": "string"})
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write schema: %w", err)
	}
	return append(out, '\n'), nil
}

// object is a JSON object whose members keep their order.
type object struct {
	names  []string
	values map[string]any
}

func (o *object) put(name string, value any) {
	if o.values == nil {
		o.values = map[string]any{}
	}
	if _, has := o.values[name]; !has {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

func (o *object) front(name string, value any) {
	o.put(name, value)
	o.names = append([]string{name}, o.names[:len(o.names)-1]...)
}

// property adds a property at the end of a schema's properties.
func (o *object) property(name string, value any) {
	if p, ok := o.values["properties"].(*object); ok {
		p.put(name, value)
	}
}

// MarshalJSON writes the members in their order.
func (o *object) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(o.values[name])
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

func structSchema(t reflect.Type) *object {
	properties := &object{}
	var required []string
	for _, f := range fieldsOf(t) {
		properties.put(f.name, fieldSchema(f))
		if f.tag.Get("required") != "" {
			required = append(required, f.name)
		}
	}
	o := &object{}
	o.put("type", "object")
	o.put("properties", properties)
	if required != nil {
		o.put("required", required)
	}
	o.put("additionalProperties", false)
	return o
}

// fieldSchema returns the schema of a field's type with what its tags say.
func fieldSchema(f field) *object {
	o := &object{}
	if desc := f.tag.Get("desc"); desc != "" {
		o.put("description", desc)
	}
	if def := f.tag.Get("default"); def != "" {
		o.put("default", defaultValue(f.typ, def))
	}
	inner := typeSchema(f.typ, f)
	for _, name := range inner.names {
		o.put(name, inner.values[name])
	}
	return o
}

func typeSchema(t reflect.Type, f field) *object {
	o := &object{}
	if c, ok := reflect.New(t).Interface().(custom); ok {
		for name, value := range c.schema() {
			o.put(name, value)
		}
		return o
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem(), f)
	case reflect.Struct:
		return structSchema(t)
	case reflect.Map:
		o.put("type", "object")
		if t.Elem().Kind() != reflect.Interface {
			o.put("additionalProperties", typeSchema(t.Elem(), field{}))
		}
	case reflect.Slice:
		o.put("type", "array")
		o.put("items", typeSchema(t.Elem(), f))
	case reflect.String:
		o.put("type", "string")
		if values := f.values(); values != nil {
			o.put("enum", values)
		}
	case reflect.Bool:
		o.put("type", "boolean")
	default:
		o.put("type", "number")
		if t.Kind() == reflect.Int {
			o.put("type", "integer")
		}
		if least, err := strconv.ParseFloat(f.tag.Get("min"), 64); err == nil {
			o.put("minimum", least)
		}
	}
	return o
}

// defaultValue returns a default in the type of its field.
func defaultValue(t reflect.Type, text string) any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		return text == "true"
	case reflect.Int, reflect.Float64:
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n
		}
	default:
	}
	return text
}
