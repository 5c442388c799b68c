package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"jcode/internal/schema"
)

func TestSimple(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing to do", `{"type":"object","properties":{"zebra":{"type":"integer","maximum":9007199254740993},"apple":{"type":["string","null"]}},"required":["apple"]}`, ``},
		{"no object", `[1]`, ``},
		{"no JSON", `{"type"`, ``},
		{"local", `{"type":"object","properties":{"a":{"$ref":"#/$defs/n","description":"which"}},"$defs":{"n":{"type":"string","description":"a name","enum":["x"]}}}`, `{"type":"object","properties":{"a":{"type":"string","description":"which","enum":["x"]}}}`},
		{"of an older draft", `{"type":"object","properties":{"a":{"$ref":"#/definitions/n"}},"definitions":{"n":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"of another property", `{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a"}}}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`},
		{"within itself", `{"type":"object","properties":{"tree":{"$ref":"#/$defs/t"}},"$defs":{"t":{"type":"object","properties":{"v":{"type":"string"},"next":{"$ref":"#/$defs/t"}}}}}`, `{"type":"object","properties":{"tree":{"type":"object","properties":{"v":{"type":"string"},"next":{"type":"object","properties":{"v":{"type":"string"},"next":{"type":"object"}}}}}}}`},
		{"a list within itself", `{"type":"object","properties":{"l":{"$ref":"#/$defs/l"}},"$defs":{"l":{"type":"array","items":{"$ref":"#/$defs/l"}}}}`, `{"type":"object","properties":{"l":{"type":"array","items":{"type":"array","items":{"type":"array","items":{}}}}}}`},
		{"to itself only", `{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}`, `{"type":"object","properties":{"a":{"type":"object"}}}`},
		{"to the root", `{"type":"object","properties":{"sub":{"$ref":"#"}}}`, `{"type":"object","properties":{"sub":{"type":"object","properties":{"sub":{"type":"object","properties":{"sub":{"type":"object"}}}}}}}`},
		{"elsewhere, nowhere", `{"type":"object","properties":{"a":{"$ref":"https://example.com/s.json"},"b":{"$ref":"#/$defs/gone"},"c":{"$ref":7},"d":{"$ref":"#/type"}}}`, `{"type":"object","properties":{"a":{},"b":{},"c":{},"d":{}}}`},
		{"in lists", `{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]},"b":{"type":"array","items":{"$ref":"#/$defs/n"}}},"$defs":{"n":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"type":"array","items":{"type":"string"}}}}`},
		{"format, pattern", `{"type":"object","properties":{"a":{"type":"string","format":"uri"},"b":{"type":"string","pattern":"^(?!x)"},"c":{"type":"string","pattern":"^x$"}}}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string","pattern":"^x$"}}}`},
		{"const, default", `{"type":"object","properties":{"a":{"const":"x"},"b":{"anyOf":[{}],"default":1},"c":{"type":"integer","default":1}}}`, `{"type":"object","properties":{"a":{"enum":["x"]},"b":{"anyOf":[{}]},"c":{"type":"integer","default":1}}}`},
		{"properties with such names", `{"type":"object","properties":{"format":{"type":"string"},"const":{"type":"string"},"definitions":{"type":"string"},"default":{"type":"string"}}}`, ``},
		{"data", `{"type":"object","properties":{"a":{"enum":["format",{"$ref":"#"}]}}}`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want == "" {
				c.want = c.in
			}
			got := schema.Simple(json.RawMessage(c.in))
			if string(got) != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			if again := schema.Simple(got); string(again) != string(got) {
				t.Errorf("a second time changes it to %s", again)
			}
			if schema.IsSimple(json.RawMessage(c.in)) && string(got) != c.in {
				t.Error("it was taken for simple")
			}
		})
	}
}

func TestSimpleDoesNotGrowWithoutEnd(t *testing.T) {
	var defs []string
	for i := range 12 {
		var props []string
		for k := range 12 {
			props = append(props, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/d%d"}`, k, k))
		}
		defs = append(defs, fmt.Sprintf(`"d%d":{"type":"object","properties":{%s}}`, i, strings.Join(props, ",")))
	}
	got := schema.Simple(json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{` + strings.Join(defs, ",") + `}}`))
	if len(got) > 256<<10 || strings.Contains(string(got), "$ref") {
		t.Errorf("%d bytes", len(got))
	}
}

// For any references, none is left, and the result can be read as a schema.
func TestSimpleLeavesNoReference(t *testing.T) {
	ref := func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"#", "#/", "#/$defs/a", "#/$defs/b", "#/properties/x", "#/$defs/a/properties/y", "#/$defs/gone", "http://x"}).Draw(t, "ref")
	}
	var value func(t *rapid.T, depth int) any
	value = func(t *rapid.T, depth int) any {
		kind := rapid.IntRange(0, 4).Draw(t, "kind")
		switch {
		case depth > 3 || kind == 0:
			return map[string]any{"type": "string", "format": "date"}
		case kind == 1:
			return map[string]any{"$ref": ref(t)}
		case kind == 2:
			return map[string]any{"type": "array", "items": value(t, depth+1)}
		case kind == 3:
			return map[string]any{"anyOf": []any{value(t, depth+1), value(t, depth+1)}, "default": nil}
		}
		return map[string]any{"type": "object", "properties": map[string]any{"x": value(t, depth+1), "y": value(t, depth+1)}}
	}
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(map[string]any{
			"type": "object", "properties": map[string]any{"x": value(t, 0), "z": value(t, 0)},
			"$defs": map[string]any{"a": value(t, 0), "b": value(t, 0)},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := schema.Simple(raw)
		if strings.Contains(string(got), `"$`) || strings.Contains(string(got), `"format"`) {
			t.Fatalf("%s\ngave %s", raw, got)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(got, &s); err != nil {
			t.Fatalf("%v: %s", err, got)
		}
		if _, err := s.Resolve(nil); err != nil {
			t.Fatalf("%v: %s", err, got)
		}
	})
}
