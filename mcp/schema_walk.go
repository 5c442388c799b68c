package mcp

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxSchemaDepth bounds the nesting that is sent; deeper parts become `{}`.
const maxSchemaDepth = 40

// The keywords of JSON Schema by what they hold. What is in none of them holds data or
// is unknown, and is left alone.
var (
	schemaKeywords     = []string{"items", "additionalProperties", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else", "unevaluatedItems", "unevaluatedProperties"}
	schemaListKeywords = []string{"anyOf", "oneOf", "allOf", "prefixItems"}
	schemaMapKeywords  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// The keywords whose value has one type; a value of another type makes the whole schema
// unreadable for strict parsers.
var (
	numberKeywords = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
	countKeywords  = []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}
	textKeywords   = []string{"pattern", "format", "contentEncoding", "contentMediaType", "$anchor", "$dynamicAnchor", "$dynamicRef"}
	flagKeywords   = []string{"uniqueItems", "deprecated", "readOnly", "writeOnly"}
)

// fits reports whether a keyword's value has the type that it must have.
func fits(name string, v node) bool {
	switch {
	case slices.Contains(numberKeywords, name):
		n, ok := v.(json.Number)
		return ok && !tooBig(n)
	case slices.Contains(countKeywords, name):
		n, ok := v.(json.Number)
		i, err := n.Int64()
		return ok && err == nil && i >= 0 && i < 1<<53
	case slices.Contains(textKeywords, name):
		_, ok := v.(string)
		return ok
	case slices.Contains(flagKeywords, name):
		_, ok := v.(bool)
		return ok
	case name == "examples":
		_, ok := v.([]node)
		return ok
	case name == "dependentRequired":
		m, ok := v.(*object)
		return ok && !slices.ContainsFunc(m.names, func(n string) bool { return !isStringList(m.values[n]) })
	case name == "dependencies":
		return false // draft 7; it only narrows
	}
	return true
}

func isStringList(v node) bool {
	list, ok := v.([]node)
	return ok && !slices.ContainsFunc(list, func(n node) bool { _, ok := n.(string); return !ok })
}

// cleanSchema takes out of a schema what providers refuse, at every depth.
func cleanSchema(n node, depth int) node {
	o, ok := n.(*object)
	if !ok || depth > maxSchemaDepth {
		return newObject()
	}
	for _, name := range slices.Clone(o.names) {
		if name == "$schema" || name == "$id" || name == "$comment" || strings.HasPrefix(name, "x-") {
			o.drop(name)
			continue
		}
		v := o.values[name]
		switch {
		case slices.Contains(schemaMapKeywords, name):
			cleanMap(o, name, depth)
		case slices.Contains(schemaListKeywords, name):
			cleanList(o, name, depth)
		case slices.Contains(schemaKeywords, name):
			cleanSub(o, name, depth)
		case name == "description" || name == "title":
			cleanLabel(o, name)
		case name == "required":
			if names := requiredIn(v); len(names) == 0 {
				o.drop(name)
			} else {
				setRequired(o, names)
			}
		case name == "type":
			cleanType(o)
		case name == "$ref":
			if ref, ok := v.(string); !ok || !strings.HasPrefix(ref, "#") {
				return newObject()
			}
		case name == "enum":
			if list, ok := v.([]node); !ok || len(list) == 0 {
				o.drop(name)
				continue
			}
			dropBigNumbers(o, name)
		case !fits(name, v):
			o.drop(name)
		default:
			dropBigNumbers(o, name)
		}
	}
	if isArraySchema(o) {
		if _, has := o.get("items"); !has {
			o.set("items", newObject())
		}
	}
	return o
}

func requiredIn(v node) []string {
	o := newObject()
	o.set("required", v)
	return requiredOf(o)
}

func isArraySchema(o *object) bool {
	switch t := o.values["type"].(type) {
	case string:
		return t == "array"
	case []node:
		return slices.Contains(t, node("array"))
	}
	return false
}

func cleanMap(o *object, name string, depth int) {
	m := o.child(name)
	if m == nil {
		o.drop(name)
		return
	}
	for _, key := range m.names {
		m.values[key] = cleanSchema(m.values[key], depth+1)
	}
}

func cleanList(o *object, name string, depth int) {
	list, ok := o.values[name].([]node)
	if !ok || len(list) == 0 {
		o.drop(name)
		return
	}
	for i, e := range list {
		list[i] = cleanSchema(e, depth+1)
	}
}

// cleanSub cleans a keyword that holds one schema. Booleans are schemas too; `items`
// may be a list in older drafts.
func cleanSub(o *object, name string, depth int) {
	switch v := o.values[name].(type) {
	case *object:
		o.values[name] = cleanSchema(v, depth+1)
	case bool:
		if name == "items" {
			o.values[name] = newObject()
		}
	case []node:
		if name != "items" {
			o.drop(name)
			return
		}
		alternatives := newObject()
		for i, e := range v {
			v[i] = cleanSchema(e, depth+1)
		}
		if len(v) > 0 {
			alternatives.set("anyOf", v)
		}
		o.values[name] = alternatives
	default:
		o.drop(name)
	}
}

func cleanLabel(o *object, name string) {
	s, ok := o.values[name].(string)
	if !ok {
		o.drop(name)
		return
	}
	o.values[name] = cutText(s, maxDescription)
}

func cleanType(o *object) {
	switch t := o.values["type"].(type) {
	case string:
		if !knownType(t) {
			o.drop("type")
		}
	case []node:
		t = slices.DeleteFunc(t, func(n node) bool { s, ok := n.(string); return !ok || !knownType(s) })
		if len(t) == 0 {
			o.drop("type")
			return
		}
		o.values["type"] = t
	default:
		o.drop("type")
	}
}

// dropBigNumbers drops a keyword whose value holds a number that can't be kept.
func dropBigNumbers(o *object, name string) {
	if hasBigNumber(o.values[name]) {
		o.drop(name)
	}
}

func hasBigNumber(n node) bool {
	switch n := n.(type) {
	case json.Number:
		return tooBig(n)
	case []node:
		return slices.ContainsFunc(n, hasBigNumber)
	case *object:
		for _, name := range n.names {
			if hasBigNumber(n.values[name]) {
				return true
			}
		}
	}
	return false
}

// eachSubschema calls f for the schemas directly inside o.
func eachSubschema(o *object, f func(*object)) {
	call := func(n node) {
		if sub, ok := n.(*object); ok {
			f(sub)
		}
	}
	for _, name := range slices.Clone(o.names) {
		v := o.values[name]
		switch {
		case slices.Contains(schemaMapKeywords, name):
			if m, ok := v.(*object); ok {
				for _, key := range m.names {
					call(m.values[key])
				}
			}
		case slices.Contains(schemaListKeywords, name), slices.Contains(schemaKeywords, name):
			if list, ok := v.([]node); ok {
				for _, e := range list {
					call(e)
				}
			}
			call(v)
		}
	}
}

// rewriteRefs replaces every `$ref` by what f makes of it.
func rewriteRefs(o *object, depth int, f func(string) string) {
	if depth > maxJSONDepth {
		return
	}
	if ref := o.text("$ref"); ref != "" {
		o.set("$ref", f(ref))
	}
	eachSubschema(o, func(sub *object) { rewriteRefs(sub, depth+1, f) })
}

// dropDanglingRefs empties schemas whose local reference leads nowhere: half a schema
// is refused, an open one is not.
func dropDanglingRefs(root, o *object) {
	if ref, has := o.get("$ref"); has {
		s, _ := ref.(string)
		target, ok := resolvePointer(root, s)
		if _, isSchema := target.(*object); !ok || !isSchema {
			o.drop(slices.Clone(o.names)...)
			return
		}
	}
	eachSubschema(o, func(sub *object) { dropDanglingRefs(root, sub) })
}

func dropDescriptions(o *object, depth int) {
	if depth > 0 {
		o.drop("description", "title", "examples")
	}
	eachSubschema(o, func(sub *object) { dropDescriptions(sub, depth+1) })
}
