package modeltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// inner returns an object within an object.
func inner(fields map[string]any, names ...string) (map[string]any, bool) {
	for _, name := range names {
		next, ok := fields[name].(map[string]any)
		if !ok {
			return nil, false
		}
		fields = next
	}
	return fields, true
}

// badAnswerSchema returns one line for each thing in the format of an answer that its maker refuses. OpenAI wants a name,
// and in strict form all properties required; both makers want objects closed, and know a part of JSON Schema.
func badAnswerSchema(at string, format map[string]any, openai bool) (found []string) {
	schema, ok := format["schema"].(map[string]any)
	switch {
	case !ok:
		return []string{at + ".schema: Field required"}
	case openai && text(format, "name") == "":
		return []string{at + ".name: Missing required parameter"}
	case text(schema, "type") != "object":
		return []string{at + ".schema: schema must be a JSON Schema of 'type: \"object\"'"}
	}
	known := strings.Fields("type properties required additionalProperties items anyOf enum const $ref $defs title description format")
	if openai {
		if format["strict"] != true {
			return nil
		}
		known = append(known, strings.Fields("pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems")...)
	} else {
		known = append(known, "allOf", "default", "definitions")
	}
	var look func(at string, v any)
	each := func(at string, v any) {
		m, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(m)) {
			look(at+"."+name, m[name])
		}
	}
	look = func(at string, v any) {
		s, ok := v.(map[string]any)
		if !ok {
			found = append(found, at+": a schema is an object")
			return
		}
		for _, name := range slices.Sorted(maps.Keys(s)) {
			if !slices.Contains(known, name) {
				found = append(found, fmt.Sprintf("%s: '%s' is not permitted", at, name))
			}
		}
		properties, has := s["properties"].(map[string]any)
		if has || text(s, "type") == "object" {
			if s["additionalProperties"] != false {
				found = append(found, at+": 'additionalProperties' is required to be supplied and to be false")
			}
			required, _ := s["required"].([]any)
			for _, name := range slices.Sorted(maps.Keys(properties)) {
				if openai && !slices.Contains(required, any(name)) {
					found = append(found, fmt.Sprintf("%s: 'required' is required to include every key in properties. Missing '%s'", at, name))
				}
			}
		}
		each(at+".properties", s["properties"])
		each(at+".$defs", s["$defs"])
		if items, given := s["items"]; given {
			look(at+".items", items)
		}
		for _, name := range []string{"anyOf", "allOf"} {
			list, _ := s[name].([]any)
			for i, v := range list {
				look(fmt.Sprintf("%s.%s[%d]", at, name, i), v)
			}
		}
	}
	look(at+".schema", schema)
	return found
}
