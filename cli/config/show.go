package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Setting is one setting in force, for people.
type Setting struct {
	Key string `json:"key"`
	// Value is JSON, with secrets masked.
	Value json.RawMessage `json:"value"`
	// Origin is "file:line", or "default".
	Origin string `json:"origin"`
	// Parts are the parts of a list that comes from several files; otherwise there are none.
	Parts []Part `json:"parts,omitempty"`
}

// Part is the part of a list that comes from one file.
type Part struct {
	Value  json.RawMessage `json:"value"`
	Origin string          `json:"origin"`
}

// joinedPart is how many elements of a list come from one file.
type joinedPart struct {
	n      int
	origin string
}

// Origin returns where an element of a list comes from, as "file:line".
func (l *Loaded) Origin(key string, element int) string {
	for _, p := range l.joined[key] {
		if element < p.n {
			return p.origin
		}
		element -= p.n
	}
	return l.Origins[key]
}

// parts splits a list by the files that it comes from.
func (l *Loaded) parts(key string, v reflect.Value) ([]Part, error) {
	var out []Part
	from := 0
	for _, p := range l.joined[key] {
		raw, err := maskedJSON(key, v.Slice(from, from+p.n))
		if err != nil {
			return nil, err
		}
		out = append(out, Part{raw, p.origin})
		from += p.n
	}
	return out, nil
}

// Show lists the settings in force, in the order of the reference: what files set and, with all, also the
// defaults. Secrets are masked.
func (l *Loaded) Show(all bool) ([]Setting, error) {
	var out []Setting
	err := walkSettings(reflect.ValueOf(&l.Config).Elem(), "", func(key string, v reflect.Value, f field) error {
		origin, set := l.Origins[key]
		if !set {
			if def := f.tag.Get("default"); all && def != "" && v.IsZero() {
				raw, err := json.Marshal(defaultValue(v.Type(), def))
				if err != nil {
					return err
				}
				out = append(out, Setting{Key: key, Value: raw, Origin: "default"})
			}
			return nil
		}
		raw, err := maskedJSON(key, v)
		if err != nil {
			return fmt.Errorf("show %s: %w", key, err)
		}
		parts, err := l.parts(key, v)
		if err != nil {
			return fmt.Errorf("show %s: %w", key, err)
		}
		out = append(out, Setting{Key: key, Value: raw, Origin: origin, Parts: parts})
		return nil
	})
	return out, err
}

// maskedJSON encodes a value as JSON without its secrets and without what is empty.
func maskedJSON(key string, v reflect.Value) (json.RawMessage, error) {
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		return nil, err
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		return nil, err
	}
	return readable(prune(Mask(key, plain)))
}

// readable encodes a value as JSON for people: && is not escaped for HTML.
func readable(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// walkSettings visits each setting: fields that have no sections, and entries of maps.
func walkSettings(v reflect.Value, prefix string, visit func(key string, v reflect.Value, f field) error) error {
	for _, f := range fieldsOf(v.Type()) {
		inner, key := v.Field(f.index), prefix+f.name
		var err error
		switch {
		case inner.Kind() == reflect.Struct && !isCustom(inner):
			err = walkSettings(inner, key+".", visit)
		case inner.Kind() == reflect.Map:
			for _, name := range sortedKeys(inner) {
				if err = visit(key+"."+name, inner.MapIndex(reflect.ValueOf(name)), f); err != nil {
					break
				}
			}
		default:
			err = visit(key, inner, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func sortedKeys(m reflect.Value) []string {
	var names []string
	for _, k := range m.MapKeys() {
		names = append(names, k.String())
	}
	slices.Sort(names)
	return names
}

// Reference returns a Markdown table of all settings, generated from the types. A star marks what a project
// may set before it is trusted, if that narrows.
func Reference() string {
	var b strings.Builder
	b.WriteString("| key | values | default | meaning |\n| --- | --- | --- | --- |\n")
	reference(&b, reflect.TypeFor[Config](), "")
	return b.String()
}

func reference(b *strings.Builder, t reflect.Type, prefix string) {
	for _, f := range fieldsOf(t) {
		key := prefix + f.name
		inner, suffix := f.typ, ""
		switch {
		case inner.Kind() == reflect.Map && inner.Elem().Kind() == reflect.Struct:
			inner, suffix = inner.Elem(), ".NAME"
		case inner.Kind() == reflect.Slice && inner.Elem().Kind() == reflect.Struct:
			inner, suffix = inner.Elem(), "[]"
		}
		desc := f.tag.Get("desc")
		if n := f.tag.Get("narrow"); n != "" && n != "never" {
			desc += " *"
		}
		if inner.Kind() == reflect.Struct && !isCustom(reflect.Zero(inner)) {
			fmt.Fprintf(b, "| **`%s%s`** | | | %s |\n", key, suffix, cell(desc))
			reference(b, inner, key+suffix+".")
			continue
		}
		def := f.tag.Get("default")
		if def != "" {
			def = "`" + def + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", key, cell(valueNames(f)), def, cell(desc))
	}
}

// cell escapes a text for a table cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// valueNames says which values a field accepts.
func valueNames(f field) string {
	if values := f.values(); values != nil {
		text := "`" + strings.Join(values, "` `") + "`"
		if f.typ.Kind() == reflect.Slice {
			return "list of " + text
		}
		return text
	}
	return typeName(f.typ, f.tag.Get("min"))
}

func typeName(t reflect.Type, least string) string {
	switch t {
	case reflect.TypeFor[Duration]():
		return "span of time"
	case reflect.TypeFor[Share]():
		return "share"
	case reflect.TypeFor[Amount]():
		return "tokens or share"
	case reflect.TypeFor[StatusLine]():
		return "list of `" + strings.Join(StatusParts(), "` `") + "`, or a command"
	case reflect.TypeFor[List]():
		return "text or list"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem(), least)
	case reflect.Bool:
		return "`true` `false`"
	case reflect.Int, reflect.Float64:
		if least != "" && least != "0" {
			return "number, at least " + least
		}
		return "number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct {
			return "list"
		}
		return "list of texts"
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return "object"
		}
		return "object of " + typeName(t.Elem(), "") + "s"
	default:
		return "text"
	}
}
