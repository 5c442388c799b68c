package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"jcode/internal/schema"
)

const (
	MaxDescription = 2 << 10
	maxToolBytes   = 16 << 10
	// Argument is the only argument of a tool whose own schema is not an object.
	Argument = "input"
)

// Repaired is the schema that a provider gets in place of a server's own input schema.
type Repaired struct {
	// Schema has an object root with `properties` and no combinator at the root.
	Schema json.RawMessage
	// Wrapped says that the server's schema is not an object: the call's only argument `input` is the value to
	// send.
	Wrapped bool
	// Note is added to the description: the alternatives that the root had.
	Note string
	// slim says that inner descriptions were dropped for size.
	slim bool
	// said names what was wrong and was repaired.
	said []string
	// tooLarge says that it exceeds the limit even so.
	tooLarge bool
}

// repair turns whatever a server sent into a schema that every provider accepts. The tool's other bytes
// (name, description) count towards the size limit.
func repair(raw json.RawMessage, otherBytes int) Repaired {
	parsed, err := schema.Parse(raw)
	root, isObject := parsed.(*schema.Object)
	if err != nil || !isObject || len(root.Names()) == 0 {
		return Repaired{Schema: emptySchema()}
	}
	var out Repaired
	rootType, hasType := root.Lookup("type")
	root, out.Wrapped = objectRoot(root)
	hoistDefinitions(root)
	out.Note = flattenRoot(root)
	root.Delete("not", "enum", "const", "if", "then", "else")
	root.Set("type", "object")
	if s, ok := rootType.(string); hasType && !out.Wrapped && (!ok || !knownType(s)) {
		if list, isList := rootType.([]schema.Node); !isList || !isStringList(list) {
			out.said = append(out.said, fmt.Sprintf("inputSchema, its root: type %s is unknown; an object is assumed", schema.Print(rootType)))
		}
	}
	if root.Child("properties") == nil {
		if v, has := root.Lookup("properties"); has {
			out.said = append(out.said, fmt.Sprintf("inputSchema, its root: properties must be an object, not %s; it was dropped", kindOfNode(v)))
		}
		root.Set("properties", schema.NewObject())
	}
	var clean cleaner
	root = clean.schema(root, "", 0).(*schema.Object)
	if root.Child("properties") == nil {
		root.Set("properties", schema.NewObject())
	}
	clean.danglingRefs(root, root)
	out.said = append(out.said, clean.said...)
	out.Schema = schema.Print(root)
	if len(out.Schema)+otherBytes > maxToolBytes {
		dropDescriptions(root, 0)
		out.Schema, out.slim = schema.Print(root), true
		out.tooLarge = len(out.Schema)+otherBytes > maxToolBytes
	}
	return out
}

func emptySchema() json.RawMessage { return json.RawMessage(`{"type":"object","properties":{}}`) }

// objectRoot returns a root that is an object schema, wrapping any other.
func objectRoot(root *schema.Object) (*schema.Object, bool) {
	switch t, _ := root.Lookup("type"); t := t.(type) {
	case string:
		if t == "object" || !knownType(t) {
			return root, false
		}
	case []schema.Node:
		if slices.Contains(t, schema.Node("object")) || len(t) == 0 {
			return root, false
		}
		if !slices.ContainsFunc(t, func(n schema.Node) bool { s, ok := n.(string); return ok && knownType(s) }) {
			return root, false
		}
	default:
		return root, false
	}
	wrapper := schema.NewObject()
	wrapper.Set("type", "object")
	props := schema.NewObject()
	props.Set(Argument, root)
	wrapper.Set("properties", props)
	wrapper.Set("required", []schema.Node{Argument})
	for _, key := range []string{"definitions", "$defs"} {
		if defs, ok := root.Lookup(key); ok {
			root.Delete(key)
			wrapper.Set(key, defs)
		}
	}
	schema.RewriteRefs(root, func(ref string) string {
		switch {
		case ref == "#":
			return "#/properties/" + Argument
		case strings.HasPrefix(ref, "#/definitions/"), strings.HasPrefix(ref, "#/$defs/"):
			return ref
		case strings.HasPrefix(ref, "#/"):
			return "#/properties/" + Argument + ref[1:]
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
func hoistDefinitions(root *schema.Object) {
	old := root.Child("definitions")
	if old == nil {
		root.Delete("definitions")
		return
	}
	defs := root.Child("$defs")
	if defs == nil {
		defs = schema.NewObject()
	}
	for _, name := range old.Names() {
		if _, taken := defs.Lookup(name); !taken {
			defs.Set(name, old.Get(name))
		}
	}
	root.Delete("definitions")
	root.Set("$defs", defs)
	schema.RewriteRefs(root, func(ref string) string {
		if rest, ok := strings.CutPrefix(ref, "#/definitions/"); ok {
			return "#/$defs/" + rest
		}
		return ref
	})
}

// flattenRoot takes allOf, anyOf and oneOf off the root: providers refuse them there.
// It returns a sentence that names the alternatives.
func flattenRoot(root *schema.Object) string {
	if _, has := root.Lookup("$ref"); has {
		self := schema.NewObject()
		self.Set("$ref", root.Get("$ref"))
		root.Delete("$ref")
		if target := branchOf(root, self, 0); target != nil {
			mergeProperties(root, target)
			addRequired(root, schema.Strings(target, "required"))
		}
	}
	if all, ok := root.Get("allOf").([]schema.Node); ok {
		for _, b := range all {
			if branch := branchOf(root, b, 0); branch != nil {
				mergeProperties(root, branch)
				addRequired(root, schema.Strings(branch, "required"))
			}
		}
	}
	root.Delete("allOf")
	var notes []string
	for _, key := range []string{"anyOf", "oneOf"} {
		list, ok := root.Get(key).([]schema.Node)
		root.Delete(key)
		if !ok {
			continue
		}
		var common, names []string
		for i, b := range list {
			branch := branchOf(root, b, 0)
			if branch == nil {
				common = nil
				continue
			}
			mergeProperties(root, branch)
			need := schema.Strings(branch, "required")
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

func describeBranch(branch *schema.Object, required []string) string {
	names := required
	if len(names) == 0 {
		if props := branch.Child("properties"); props != nil {
			names = props.Names()
		}
	}
	label := "{" + strings.Join(names, ", ") + "}"
	if title := branch.String("title"); title != "" {
		label = title + " " + label
	}
	return label
}

// branchOf returns a branch as an object schema with its own allOf merged and a local
// reference followed.
func branchOf(root *schema.Object, b schema.Node, depth int) *schema.Object {
	branch, ok := b.(*schema.Object)
	if !ok || depth > 8 {
		return nil
	}
	if ref := branch.String("$ref"); ref != "" {
		target, ok := schema.Resolve(root, ref)
		if !ok {
			return nil
		}
		return branchOf(root, target, depth+1)
	}
	branch = schema.Clone(branch).(*schema.Object)
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, ok := branch.Get(key).([]schema.Node)
		if !ok {
			continue
		}
		for _, inner := range list {
			if sub := branchOf(root, inner, depth+1); sub != nil {
				mergeProperties(branch, sub)
				if key == "allOf" {
					addRequired(branch, schema.Strings(sub, "required"))
				}
			}
		}
	}
	return branch
}

func mergeProperties(into, from *schema.Object) {
	add := from.Child("properties")
	if add == nil {
		return
	}
	props := into.Child("properties")
	if props == nil {
		props = schema.NewObject()
		into.Set("properties", props)
	}
	for _, name := range add.Names() {
		have, taken := props.Lookup(name)
		switch {
		case !taken:
			props.Set(name, schema.Clone(add.Get(name)))
		case !sameNode(have, add.Get(name)):
			props.Set(name, eitherOf(have, add.Get(name)))
		}
	}
}

func sameNode(a, b schema.Node) bool { return bytes.Equal(schema.Print(a), schema.Print(b)) }

// eitherOf joins two schemas of one property, adding to a join made before.
func eitherOf(have, more schema.Node) schema.Node {
	if o, ok := have.(*schema.Object); ok && len(o.Names()) == 1 {
		if list, ok := o.Get("anyOf").([]schema.Node); ok {
			if slices.ContainsFunc(list, func(e schema.Node) bool { return sameNode(e, more) }) {
				return have
			}
			o.Set("anyOf", append(list, schema.Clone(more)))
			return o
		}
	}
	o := schema.NewObject()
	o.Set("anyOf", []schema.Node{have, schema.Clone(more)})
	return o
}

func addRequired(o *schema.Object, names []string) {
	have := schema.Strings(o, "required")
	for _, n := range names {
		if !slices.Contains(have, n) {
			have = append(have, n)
		}
	}
	if len(have) > 0 {
		setRequired(o, have)
	}
}

func setRequired(o *schema.Object, names []string) {
	list := make([]schema.Node, len(names))
	for i, n := range names {
		list[i] = n
	}
	o.Set("required", list)
}

// tooBig reports a number that a provider's parser can't keep.
func tooBig(n json.Number) bool {
	f, err := strconv.ParseFloat(n.String(), 64)
	return err != nil || math.IsInf(f, 0)
}
