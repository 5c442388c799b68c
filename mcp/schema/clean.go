package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"jcode/internal/rawjson"
	"jcode/internal/schema"
	"jcode/internal/text"
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
		return ok && !slices.ContainsFunc(m.Names(), func(n string) bool { return !isStringList(m.Get(n)) })
	case name == "dependencies":
		return false // of draft 7; it only restricts values
	}
	return true
}

func isStringList(v schema.Node) bool {
	list, ok := v.([]schema.Node)
	return ok && !slices.ContainsFunc(list, func(n schema.Node) bool { _, ok := n.(string); return !ok })
}

// cleaner removes from a schema what providers refuse, at every depth, and records what was
// wrong in it. Keywords that are valid but unknown to providers, such as `$id`, are removed
// without a record.
type cleaner struct{ said []string }

// maxSaid bounds how many repairs of one schema are named.
const maxSaid = 20

func (c *cleaner) say(at, format string, args ...any) {
	if at == "" {
		at = "its root"
	}
	said := fmt.Sprintf("inputSchema, %s: ", at) + text.Ellipsis(fmt.Sprintf(format, args...), 200)
	if len(c.said) < maxSaid && !slices.Contains(c.said, said) {
		c.said = append(c.said, said)
	}
}

func (c *cleaner) schema(n schema.Node, at string, depth int) schema.Node {
	o, ok := n.(*schema.Object)
	if _, isBool := n.(bool); isBool {
		return schema.NewObject()
	}
	if !ok || depth > maxSchemaDepth {
		if depth > maxSchemaDepth {
			c.say(at, "nested more than %d deep; what is below was dropped", maxSchemaDepth)
		} else {
			c.say(at, "%s is not a schema; any value is accepted", kindOfNode(n))
		}
		return schema.NewObject()
	}
	for _, name := range slices.Clone(o.Names()) {
		if name == "$schema" || name == "$id" || name == "$comment" || strings.HasPrefix(name, "x-") {
			o.Delete(name)
			continue
		}
		if !c.keyword(o, name, at, depth) {
			return schema.NewObject()
		}
	}
	if isArraySchema(o) {
		if _, has := o.Lookup("items"); !has {
			o.Set("items", schema.NewObject())
		}
	}
	return o
}

// keyword cleans one keyword; false when the whole schema can't be kept.
func (c *cleaner) keyword(o *schema.Object, name, at string, depth int) bool {
	v := o.Get(name)
	holds := schema.Holds(name)
	switch {
	case holds == schema.Map:
		c.subMap(o, name, at, depth)
	case holds == schema.List:
		c.list(o, name, at, depth)
	case holds == schema.One:
		c.sub(o, name, at, depth)
	case name == "description" || name == "title":
		c.label(o, name, at)
	case name == "required":
		c.required(o, at)
	case name == "type":
		c.types(o, at)
	case name == "$ref":
		if ref, ok := v.(string); !ok || !strings.HasPrefix(ref, "#") {
			c.say(at, "$ref %s leads out of the schema; any value is taken", schema.Print(v))
			return false
		}
	case name == "enum":
		if list, ok := v.([]schema.Node); !ok || len(list) == 0 {
			c.say(at, "enum must be a list with values; it was dropped")
			o.Delete(name)
			return true
		}
		c.bigNumbers(o, name, at)
	case !fits(name, v):
		if name != "dependencies" {
			c.say(at, "%s can't be %s; it was dropped", name, schema.Print(v))
		}
		o.Delete(name)
	default:
		c.bigNumbers(o, name, at)
	}
	return true
}

// below returns the path of a property in a schema, for people.
func below(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func kindOfNode(n schema.Node) string { return rawjson.Kind(schema.Print(n)) }

func (c *cleaner) required(o *schema.Object, at string) {
	v := o.Get("required")
	if _, isList := v.([]schema.Node); !isList || !isStringList(v) {
		c.say(at, "required must be a list of names, not %s", schema.Print(v))
	}
	if names := schema.Strings(o, "required"); len(names) > 0 {
		setRequired(o, names)
		return
	}
	o.Delete("required")
}

func isArraySchema(o *schema.Object) bool {
	switch t := o.Get("type").(type) {
	case string:
		return t == "array"
	case []schema.Node:
		return slices.Contains(t, schema.Node("array"))
	}
	return false
}

func (c *cleaner) subMap(o *schema.Object, name, at string, depth int) {
	m := o.Child(name)
	if m == nil {
		c.say(at, "%s must be an object, not %s; it was dropped", name, kindOfNode(o.Get(name)))
		o.Delete(name)
		return
	}
	for _, key := range m.Names() {
		m.Set(key, c.schema(m.Get(key), below(at, key), depth+1))
	}
}

func (c *cleaner) list(o *schema.Object, name, at string, depth int) {
	list, ok := o.Get(name).([]schema.Node)
	if !ok || len(list) == 0 {
		c.say(at, "%s must be a list of schemas; it was dropped", name)
		o.Delete(name)
		return
	}
	for i, e := range list {
		list[i] = c.schema(e, at, depth+1)
	}
}

// sub cleans a keyword that holds one schema. Booleans are schemas too; `items` may be a
// list in older drafts.
func (c *cleaner) sub(o *schema.Object, name, at string, depth int) {
	switch v := o.Get(name).(type) {
	case *schema.Object:
		o.Set(name, c.schema(v, at, depth+1))
	case bool:
		if name == "items" {
			o.Set(name, schema.NewObject())
		}
	case []schema.Node:
		if name != "items" {
			c.say(at, "%s must be a schema, not a list; it was dropped", name)
			o.Delete(name)
			return
		}
		alternatives := schema.NewObject()
		for i, e := range v {
			v[i] = c.schema(e, at, depth+1)
		}
		if len(v) > 0 {
			alternatives.Set("anyOf", v)
		}
		o.Set(name, alternatives)
	default:
		c.say(at, "%s must be a schema, not %s; it was dropped", name, kindOfNode(v))
		o.Delete(name)
	}
}

func (c *cleaner) label(o *schema.Object, name, at string) {
	s, ok := o.Get(name).(string)
	if !ok {
		c.say(at, "%s is %s and was dropped", name, kindOfNode(o.Get(name)))
		o.Delete(name)
		return
	}
	o.Set(name, text.Ellipsis(s, MaxDescription))
}

func (c *cleaner) types(o *schema.Object, at string) {
	unknown := func(n schema.Node) bool {
		s, ok := n.(string)
		if !ok || !knownType(s) {
			c.say(at, "type %s is unknown; any value is taken", schema.Print(n))
			return true
		}
		return false
	}
	if list, ok := o.Get("type").([]schema.Node); ok {
		list = slices.DeleteFunc(list, unknown)
		if len(list) == 0 {
			o.Delete("type")
			return
		}
		o.Set("type", list)
		return
	}
	if unknown(o.Get("type")) {
		o.Delete("type")
	}
}

// bigNumbers drops a keyword whose value contains a number that providers can't represent.
func (c *cleaner) bigNumbers(o *schema.Object, name, at string) {
	if hasBigNumber(o.Get(name)) {
		c.say(at, "%s holds a number that is too large; it was dropped", name)
		o.Delete(name)
	}
}

func hasBigNumber(n schema.Node) bool {
	switch n := n.(type) {
	case json.Number:
		return tooBig(n)
	case []schema.Node:
		return slices.ContainsFunc(n, hasBigNumber)
	case *schema.Object:
		return slices.ContainsFunc(n.Names(), func(name string) bool { return hasBigNumber(n.Get(name)) })
	}
	return false
}

// danglingRefs empties schemas whose local reference has no target: providers refuse such a
// reference, but accept an empty schema.
func (c *cleaner) danglingRefs(root, o *schema.Object) {
	if ref, has := o.Lookup("$ref"); has {
		s, _ := ref.(string)
		target, ok := schema.Resolve(root, s)
		if _, isSchema := target.(*schema.Object); !ok || !isSchema {
			c.say("", "$ref %s leads nowhere; any value is taken", schema.Print(ref))
			o.Delete(slices.Clone(o.Names())...)
			return
		}
	}
	schema.EachSub(o, func(sub *schema.Object) { c.danglingRefs(root, sub) })
}

func dropDescriptions(o *schema.Object, depth int) {
	if depth > 0 {
		o.Delete("description", "title", "examples")
	}
	schema.EachSub(o, func(sub *schema.Object) { dropDescriptions(sub, depth+1) })
}
