package mcp

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	maxDescription = 2 << 10
	maxToolBytes   = 16 << 10
	// wrapName is the only argument of a tool whose own schema is no object.
	wrapName = "input"
)

// repaired is what a provider is given in place of a server's own input schema.
type repaired struct {
	// schema has an object root with `properties` and no combinator at the root.
	schema json.RawMessage
	// wrapped says that the server's schema is no object: the call's only argument
	// `input` is the value to send.
	wrapped bool
	// note is added to the description: the alternatives that the root had.
	note string
	// slim says that inner descriptions were dropped for size.
	slim bool
	// tooLarge says that it is over the limit even so.
	tooLarge bool
}

// repairSchema makes a schema that every provider takes out of whatever a server sent.
// The tool's other bytes (name, description) count towards the size limit.
func repairSchema(raw json.RawMessage, otherBytes int) repaired {
	parsed, err := parseJSON(raw)
	root, isObject := parsed.(*object)
	if err != nil || !isObject || len(root.names) == 0 {
		return repaired{schema: emptySchema()}
	}
	var out repaired
	root, out.wrapped = objectRoot(root)
	hoistDefinitions(root)
	out.note = flattenRoot(root)
	root.drop("not", "enum", "const", "if", "then", "else")
	root.set("type", "object")
	if root.child("properties") == nil {
		root.set("properties", newObject())
	}
	root = cleanSchema(root, 0).(*object)
	if root.child("properties") == nil {
		root.set("properties", newObject())
	}
	dropDanglingRefs(root, root)
	out.schema = printJSON(root)
	if len(out.schema)+otherBytes > maxToolBytes {
		dropDescriptions(root, 0)
		out.schema, out.slim = printJSON(root), true
		out.tooLarge = len(out.schema)+otherBytes > maxToolBytes
	}
	return out
}

func emptySchema() json.RawMessage { return json.RawMessage(`{"type":"object","properties":{}}`) }

// objectRoot gives a root that is an object schema, wrapping any other.
func objectRoot(root *object) (*object, bool) {
	switch t, _ := root.get("type"); t := t.(type) {
	case string:
		if t == "object" {
			return root, false
		}
		if !knownType(t) {
			return root, false
		}
	case []node:
		if slices.Contains(t, node("object")) || len(t) == 0 {
			return root, false
		}
		if !slices.ContainsFunc(t, func(n node) bool { s, ok := n.(string); return ok && knownType(s) }) {
			return root, false
		}
	default:
		return root, false
	}
	wrapper := newObject()
	wrapper.set("type", "object")
	props := newObject()
	props.set(wrapName, root)
	wrapper.set("properties", props)
	wrapper.set("required", []node{wrapName})
	for _, key := range []string{"definitions", "$defs"} {
		if defs, ok := root.get(key); ok {
			root.drop(key)
			wrapper.set(key, defs)
		}
	}
	rewriteRefs(root, 0, func(ref string) string {
		switch {
		case ref == "#":
			return "#/properties/" + wrapName
		case strings.HasPrefix(ref, "#/definitions/"), strings.HasPrefix(ref, "#/$defs/"):
			return ref
		case strings.HasPrefix(ref, "#/"):
			return "#/properties/" + wrapName + ref[1:]
		}
		return ref
	})
	return wrapper, true
}

func knownType(t string) bool {
	switch t {
	case "string", "number", "integer", "boolean", "array", "null", "object":
		return true
	}
	return false
}

// hoistDefinitions renames the draft-07 `definitions` of the root to `$defs`.
func hoistDefinitions(root *object) {
	old := root.child("definitions")
	if old == nil {
		root.drop("definitions")
		return
	}
	defs := root.child("$defs")
	if defs == nil {
		defs = newObject()
	}
	for _, name := range old.names {
		if _, taken := defs.get(name); !taken {
			defs.set(name, old.values[name])
		}
	}
	root.drop("definitions")
	root.set("$defs", defs)
	rewriteRefs(root, 0, func(ref string) string {
		if rest, ok := strings.CutPrefix(ref, "#/definitions/"); ok {
			return "#/$defs/" + rest
		}
		return ref
	})
}

// flattenRoot takes allOf, anyOf and oneOf off the root: providers refuse them there.
// It gives a sentence that names the alternatives.
func flattenRoot(root *object) string {
	if _, has := root.get("$ref"); has {
		self := newObject()
		self.set("$ref", root.values["$ref"])
		root.drop("$ref")
		if target := branchOf(root, self, 0); target != nil {
			mergeProperties(root, target)
			addRequired(root, requiredOf(target))
		}
	}
	if all, ok := root.values["allOf"].([]node); ok {
		for _, b := range all {
			if branch := branchOf(root, b, 0); branch != nil {
				mergeProperties(root, branch)
				addRequired(root, requiredOf(branch))
			}
		}
	}
	root.drop("allOf")
	var notes []string
	for _, key := range []string{"anyOf", "oneOf"} {
		list, ok := root.values[key].([]node)
		root.drop(key)
		if !ok {
			continue
		}
		var common []string
		var names []string
		for i, b := range list {
			branch := branchOf(root, b, 0)
			if branch == nil {
				common = nil
				continue
			}
			mergeProperties(root, branch)
			need := requiredOf(branch)
			if i == 0 {
				common = need
			} else {
				common = slices.DeleteFunc(common, func(n string) bool { return !slices.Contains(need, n) })
			}
			names = append(names, describeBranch(branch, need))
		}
		addRequired(root, common)
		if len(names) > 1 {
			word := "any of: "
			if key == "oneOf" {
				word = "exactly one of: "
			}
			notes = append(notes, "Arguments: "+word+strings.Join(names, " | ")+".")
		}
	}
	return strings.Join(notes, " ")
}

func describeBranch(branch *object, required []string) string {
	names := required
	if len(names) == 0 {
		if props := branch.child("properties"); props != nil {
			names = props.names
		}
	}
	label := "{" + strings.Join(names, ", ") + "}"
	if title := branch.text("title"); title != "" {
		label = title + " " + label
	}
	return label
}

// branchOf gives a branch as an object schema with its own allOf merged and a local
// reference followed.
func branchOf(root *object, b node, depth int) *object {
	branch, ok := b.(*object)
	if !ok || depth > 8 {
		return nil
	}
	if ref := branch.text("$ref"); ref != "" {
		target, ok := resolvePointer(root, ref)
		if !ok {
			return nil
		}
		return branchOf(root, target, depth+1)
	}
	branch = cloneNode(branch).(*object)
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, ok := branch.values[key].([]node)
		if !ok {
			continue
		}
		for _, inner := range list {
			if sub := branchOf(root, inner, depth+1); sub != nil {
				mergeProperties(branch, sub)
				if key == "allOf" {
					addRequired(branch, requiredOf(sub))
				}
			}
		}
	}
	return branch
}

func mergeProperties(into, from *object) {
	add := from.child("properties")
	if add == nil {
		return
	}
	props := into.child("properties")
	if props == nil {
		props = newObject()
		into.set("properties", props)
	}
	for _, name := range add.names {
		have, taken := props.get(name)
		switch {
		case !taken:
			props.set(name, cloneNode(add.values[name]))
		case string(printJSON(have)) != string(printJSON(add.values[name])):
			props.set(name, eitherOf(have, add.values[name]))
		}
	}
}

// eitherOf joins two schemas of one property, adding to a join made before.
func eitherOf(have, more node) node {
	if o, ok := have.(*object); ok && len(o.names) == 1 {
		if list, ok := o.values["anyOf"].([]node); ok {
			for _, e := range list {
				if string(printJSON(e)) == string(printJSON(more)) {
					return have
				}
			}
			o.set("anyOf", append(list, cloneNode(more)))
			return o
		}
	}
	o := newObject()
	o.set("anyOf", []node{have, cloneNode(more)})
	return o
}

func requiredOf(o *object) []string {
	list, _ := o.values["required"].([]node)
	var out []string
	for _, n := range list {
		if s, ok := n.(string); ok && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func addRequired(o *object, names []string) {
	have := requiredOf(o)
	for _, n := range names {
		if !slices.Contains(have, n) {
			have = append(have, n)
		}
	}
	if len(have) > 0 {
		setRequired(o, have)
	}
}

func setRequired(o *object, names []string) {
	list := make([]node, len(names))
	for i, n := range names {
		list[i] = n
	}
	o.set("required", list)
}

// tooBig reports a number that a provider's parser can't keep.
func tooBig(n json.Number) bool {
	f, err := strconv.ParseFloat(n.String(), 64)
	return err != nil || math.IsInf(f, 0)
}
