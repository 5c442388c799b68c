package schema

import "slices"

// Holding is the kind of value that a keyword has.
type Holding int

// The kinds of keyword values. A keyword of none of the other kinds holds data or is unknown.
const (
	Data Holding = iota
	One          // a schema, or a boolean
	List         // a list of schemas
	Map          // schemas by name
)

// Holds returns the kind of value that a keyword has.
func Holds(keyword string) Holding {
	switch keyword {
	case "items", "additionalProperties", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else", "unevaluatedItems", "unevaluatedProperties":
		return One
	case "anyOf", "oneOf", "allOf", "prefixItems":
		return List
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return Map
	}
	return Data
}

// EachSub calls f for the schemas directly inside o.
func EachSub(o *Object, f func(*Object)) {
	call := func(n Node) {
		if sub, ok := n.(*Object); ok {
			f(sub)
		}
	}
	for _, name := range slices.Clone(o.Names()) {
		v := o.Get(name)
		switch Holds(name) {
		case Map:
			if m, ok := v.(*Object); ok {
				for _, key := range m.Names() {
					call(m.Get(key))
				}
			}
		case List, One: // `items` may be a list in older drafts
			if list, ok := v.([]Node); ok {
				for _, e := range list {
					call(e)
				}
			}
			call(v)
		case Data:
		}
	}
}

// RewriteRefs replaces every `$ref` in o with the result of f.
func RewriteRefs(o *Object, f func(string) string) { rewriteRefs(o, 0, f) }

func rewriteRefs(o *Object, depth int, f func(string) string) {
	if depth > MaxDepth {
		return
	}
	if ref := o.String("$ref"); ref != "" {
		o.Set("$ref", f(ref))
	}
	EachSub(o, func(sub *Object) { rewriteRefs(sub, depth+1, f) })
}
