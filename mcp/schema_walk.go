package mcp

import (
	"encoding/json"
	"slices"
	"strings"

	"jcode/internal/schema"
)

// maxSchemaDepth bounds the nesting that is sent; deeper parts become `{}`.
const maxSchemaDepth = 40

// The keywords whose value has one type; a value of another type makes the whole schema
// unreadable for strict parsers.
var (
	numberKeywords = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
	countKeywords  = []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}
	textKeywords   = []string{"pattern", "format", "contentEncoding", "contentMediaType", "$anchor", "$dynamicAnchor", "$dynamicRef"}
	flagKeywords   = []string{"uniqueItems", "deprecated", "readOnly", "writeOnly"}
)

// fits reports whether a keyword's value has the type that it must have.
func fits(name string, v schema.Node) bool {
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
		_, ok := v.([]schema.Node)
		return ok
	case name == "dependentRequired":
		m, ok := v.(*schema.Object)
		return ok && !slices.ContainsFunc(m.Names(), func(n string) bool { return !isStringList(m.At(n)) })
	case name == "dependencies":
		return false // draft 7; it only narrows
	}
	return true
}

func isStringList(v schema.Node) bool {
	list, ok := v.([]schema.Node)
	return ok && !slices.ContainsFunc(list, func(n schema.Node) bool { _, ok := n.(string); return !ok })
}

// cleanSchema takes out of a schema what providers refuse, at every depth.
func cleanSchema(n schema.Node, depth int) schema.Node {
	o, ok := n.(*schema.Object)
	if !ok || depth > maxSchemaDepth {
		return schema.NewObject()
	}
	for _, name := range slices.Clone(o.Names()) {
		if name == "$schema" || name == "$id" || name == "$comment" || strings.HasPrefix(name, "x-") {
			o.Drop(name)
			continue
		}
		v := o.At(name)
		holds := schema.Holds(name)
		switch {
		case holds == schema.Map:
			cleanMap(o, name, depth)
		case holds == schema.List:
			cleanList(o, name, depth)
		case holds == schema.One:
			cleanSub(o, name, depth)
		case name == "description" || name == "title":
			cleanLabel(o, name)
		case name == "required":
			if names := requiredIn(v); len(names) == 0 {
				o.Drop(name)
			} else {
				setRequired(o, names)
			}
		case name == "type":
			cleanType(o)
		case name == "$ref":
			if ref, ok := v.(string); !ok || !strings.HasPrefix(ref, "#") {
				return schema.NewObject()
			}
		case name == "enum":
			if list, ok := v.([]schema.Node); !ok || len(list) == 0 {
				o.Drop(name)
				continue
			}
			dropBigNumbers(o, name)
		case !fits(name, v):
			o.Drop(name)
		default:
			dropBigNumbers(o, name)
		}
	}
	if isArraySchema(o) {
		if _, has := o.Get("items"); !has {
			o.Set("items", schema.NewObject())
		}
	}
	return o
}

func requiredIn(v schema.Node) []string {
	o := schema.NewObject()
	o.Set("required", v)
	return requiredOf(o)
}

func isArraySchema(o *schema.Object) bool {
	switch t := o.At("type").(type) {
	case string:
		return t == "array"
	case []schema.Node:
		return slices.Contains(t, schema.Node("array"))
	}
	return false
}

func cleanMap(o *schema.Object, name string, depth int) {
	m := o.Child(name)
	if m == nil {
		o.Drop(name)
		return
	}
	for _, key := range m.Names() {
		m.Set(key, cleanSchema(m.At(key), depth+1))
	}
}

func cleanList(o *schema.Object, name string, depth int) {
	list, ok := o.At(name).([]schema.Node)
	if !ok || len(list) == 0 {
		o.Drop(name)
		return
	}
	for i, e := range list {
		list[i] = cleanSchema(e, depth+1)
	}
}

// cleanSub cleans a keyword that holds one schema. Booleans are schemas too; `items`
// may be a list in older drafts.
func cleanSub(o *schema.Object, name string, depth int) {
	switch v := o.At(name).(type) {
	case *schema.Object:
		o.Set(name, cleanSchema(v, depth+1))
	case bool:
		if name == "items" {
			o.Set(name, schema.NewObject())
		}
	case []schema.Node:
		if name != "items" {
			o.Drop(name)
			return
		}
		alternatives := schema.NewObject()
		for i, e := range v {
			v[i] = cleanSchema(e, depth+1)
		}
		if len(v) > 0 {
			alternatives.Set("anyOf", v)
		}
		o.Set(name, alternatives)
	default:
		o.Drop(name)
	}
}

func cleanLabel(o *schema.Object, name string) {
	s, ok := o.At(name).(string)
	if !ok {
		o.Drop(name)
		return
	}
	o.Set(name, cutText(s, maxDescription))
}

func cleanType(o *schema.Object) {
	switch t := o.At("type").(type) {
	case string:
		if !knownType(t) {
			o.Drop("type")
		}
	case []schema.Node:
		t = slices.DeleteFunc(t, func(n schema.Node) bool { s, ok := n.(string); return !ok || !knownType(s) })
		if len(t) == 0 {
			o.Drop("type")
			return
		}
		o.Set("type", t)
	default:
		o.Drop("type")
	}
}

// dropBigNumbers drops a keyword whose value holds a number that can't be kept.
func dropBigNumbers(o *schema.Object, name string) {
	if hasBigNumber(o.At(name)) {
		o.Drop(name)
	}
}

func hasBigNumber(n schema.Node) bool {
	switch n := n.(type) {
	case json.Number:
		return tooBig(n)
	case []schema.Node:
		return slices.ContainsFunc(n, hasBigNumber)
	case *schema.Object:
		for _, name := range n.Names() {
			if hasBigNumber(n.At(name)) {
				return true
			}
		}
	}
	return false
}

// dropDanglingRefs empties schemas whose local reference leads nowhere: half a schema
// is refused, an open one is not.
func dropDanglingRefs(root, o *schema.Object) {
	if ref, has := o.Get("$ref"); has {
		s, _ := ref.(string)
		target, ok := schema.Resolve(root, s)
		if _, isSchema := target.(*schema.Object); !ok || !isSchema {
			o.Drop(slices.Clone(o.Names())...)
			return
		}
	}
	schema.EachSub(o, func(sub *schema.Object) { dropDanglingRefs(root, sub) })
}

func dropDescriptions(o *schema.Object, depth int) {
	if depth > 0 {
		o.Drop("description", "title", "examples")
	}
	schema.EachSub(o, func(sub *schema.Object) { dropDescriptions(sub, depth+1) })
}
