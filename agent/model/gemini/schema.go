package gemini

import (
	"encoding/json"
	"slices"

	"jcode/internal/schema"
)

// keywords returns what a schema of parameters may hold, as Google lists it for parametersJsonSchema.
func keywords() []string {
	return []string{
		"type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems", "minimum", "maximum",
		"anyOf", "oneOf", "properties", "additionalProperties", "required",
	}
}

// accepted returns a tool's schema without what the endpoint does not know. References are written out.
func accepted(parameters json.RawMessage) []byte {
	if len(parameters) == 0 {
		return []byte(`{"type":"object","properties":{}}`)
	}
	simple := parameters
	if !schema.IsSimple(simple) {
		simple = schema.Simple(simple)
	}
	tree, err := schema.Parse(simple)
	if err != nil {
		return []byte(`{"type":"object","properties":{}}`)
	}
	root, ok := tree.(*schema.Object)
	if !ok {
		return []byte(`{"type":"object","properties":{}}`)
	}
	strip(root)
	return schema.Print(root)
}

// strip takes unknown keywords out of a schema and of those within it. A constant becomes the only value of a list.
func strip(o *schema.Object) {
	schema.EachSub(o, strip)
	if v := o.Get("const"); v != nil && o.Get("enum") == nil {
		o.Set("enum", []schema.Node{v})
	}
	known := keywords()
	for _, name := range slices.Clone(o.Names()) {
		if !slices.Contains(known, name) {
			o.Delete(name)
		}
	}
}
