package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"jcode/internal/schema"
)

func TestASchemaFitsASubsetOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	strict := schema.Subset{Keywords: strings.Fields("type properties required additionalProperties items anyOf enum $ref $defs description"), Closed: true, Required: true, Depth: 3, Properties: 4}
	loose := schema.Subset{Keywords: append(strict.Keywords, "minimum"), Depth: 10, Properties: 100}
	for _, c := range []struct {
		subset    schema.Subset
		raw, want string
		why       string
	}{
		{strict, `{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, ""},
		{strict, `{"type": "object", "properties": {"a": {"type": "object", "properties": {}, "additionalProperties": true}}, "required": ["a"]}`, `{"type":"object","properties":{"a":{"type":"object","properties":{},"additionalProperties":false}},"required":["a"],"additionalProperties":false}`, ""},
		{loose, `{"type": "object", "properties": {"a": {"minimum": 1}}}`, `{"type":"object","properties":{"a":{"minimum":1}}}`, ""},
		{loose, `{"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "string"}}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`, ""},
		{loose, `{"type": "object", "properties": {"enum": {"enum": ["$ref", {"x": 1}]}}}`, `{"type":"object","properties":{"enum":{"enum":["$ref",{"x":1}]}}}`, ""},
		{strict, `{"type": "object", "properties": {"a": {"type": "string"}}}`, "", "the property a, which is not required"},
		{strict, `{"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}, "required": ["a"]}`, "", "properties.a has the keyword pattern"},
		{strict, `{"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}`, "", "additionalProperties"},
		{strict, `{"type": "object", "properties": {"a": true}, "required": ["a"]}`, "", "no object"},
		{strict, `{"type": "object", "properties": {"a": {"items": {"items": {"items": {}}}}}, "required": ["a"]}`, "", "deeper than 3"},
		{strict, `{"type": "object", "properties": {"a": {}, "b": {}, "c": {}, "d": {}, "e": {}}, "required": ["a", "b", "c", "d", "e"]}`, "", "more than 4"},
		{loose, `{"type": "object", "properties": {"next": {"$ref": "#"}}}`, "", "contains itself"},
		{loose, `{"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"items": {"$ref": "#/$defs/x"}}}}`, "", "contains itself"},
		{loose, `{"type": "object", "properties": {"a": {"$ref": "https://elsewhere.example"}}}`, "", "leads nowhere"},
		{loose, `{"anyOf": [{"type": "object"}]}`, "", "no object at the top"},
		{loose, `[]`, "", "no object at the top"},
		{loose, `{`, "", ""},
	} {
		got, err := c.subset.Fit(json.RawMessage(c.raw))
		if (err == nil) != (c.want != "") || string(got) != c.want || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %s, %v", c.raw, got, err)
		}
	}
}
