package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"jcode/internal/ordered"
)

// Schema returns the JSON Schema of config.json, generated from the types, in the order of the fields.
func Schema() ([]byte, error) {
	config := structSchema(reflect.TypeFor[Config]())
	config.Child("properties").Set("$schema", map[string]any{"type": "string"})
	root := ordered.New("title", "jcode configuration", "$schema", "https://json-schema.org/draft/2020-12/schema")
	extend(root, config)
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write schema: %w", err)
	}
	return append(out, '\n'), nil
}

// extend adds the members of another object.
func extend(o, by *ordered.Object) {
	for i := range by.Len() {
		o.Set(by.At(i))
	}
}

func structSchema(t reflect.Type) *ordered.Object {
	properties := &ordered.Object{}
	var required []string
	for _, f := range fieldsOf(t) {
		properties.Set(f.name, fieldSchema(f))
		if f.tag.Get("required") != "" {
			required = append(required, f.name)
		}
	}
	o := ordered.New("type", "object", "properties", properties)
	if required != nil {
		o.Set("required", required)
	}
	o.Set("additionalProperties", false)
	return o
}

// fieldSchema returns the schema of a field's type with what its tags say.
func fieldSchema(f field) *ordered.Object {
	o := &ordered.Object{}
	if desc := f.tag.Get("desc"); desc != "" {
		o.Set("description", desc)
	}
	if def := f.tag.Get("default"); def != "" {
		o.Set("default", defaultValue(f.typ, def))
	}
	extend(o, typeSchema(f.typ, f))
	return o
}

func typeSchema(t reflect.Type, f field) *ordered.Object {
	o := &ordered.Object{}
	if c, ok := reflect.New(t).Interface().(custom); ok {
		for name, value := range c.schema() {
			o.Set(name, value)
		}
		return o
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem(), f)
	case reflect.Struct:
		return structSchema(t)
	case reflect.Map:
		o.Set("type", "object")
		if t.Elem().Kind() != reflect.Interface {
			o.Set("additionalProperties", typeSchema(t.Elem(), field{}))
		}
	case reflect.Slice:
		o.Set("type", "array")
		o.Set("items", typeSchema(t.Elem(), f))
	case reflect.String:
		o.Set("type", "string")
		if values := f.values(); values != nil {
			o.Set("enum", values)
		}
	case reflect.Bool:
		o.Set("type", "boolean")
	default:
		o.Set("type", "number")
		if t.Kind() == reflect.Int {
			o.Set("type", "integer")
		}
		if least, err := strconv.ParseFloat(f.tag.Get("min"), 64); err == nil {
			o.Set("minimum", least)
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
