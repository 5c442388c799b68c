package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

func TestRepairSchema(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"missing", ``, `{"type":"object","properties":{}}`},
		{"null", `null`, `{"type":"object","properties":{}}`},
		{"empty", `{}`, `{"type":"object","properties":{}}`},
		{"true", `true`, `{"type":"object","properties":{}}`},
		{"array", `[]`, `{"type":"object","properties":{}}`},
		{"string", `"object"`, `{"type":"object","properties":{}}`},
		{"no properties", `{"type":"object"}`, `{"type":"object","properties":{}}`},
		{"no type", `{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":"string"}},"type":"object"}`},
		{"type list", `{"type":["object","null"],"properties":{}}`, `{"type":"object","properties":{}}`},
		{"inner null", `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`},
		{"root string", `{"type":"string","minLength":1}`, `{"type":"object","properties":{"input":{"type":"string","minLength":1}},"required":["input"]}`},
		{"root array", `{"type":"array","items":{"$ref":"#/$defs/x"},"$defs":{"x":{"type":"string"}}}`, `{"type":"object","properties":{"input":{"type":"array","items":{"$ref":"#/$defs/x"}}},"required":["input"],"$defs":{"x":{"type":"string"}}}`},
		{"allOf", `{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"number"}}}]}`, `{"properties":{"a":{"type":"string"},"b":{"type":"number"}},"required":["a"],"type":"object"}`},
		{"anyOf", `{"type":"object","properties":{"k":{"type":"string"}},"anyOf":[{"properties":{"a":{"type":"string"}},"required":["k","a"]},{"properties":{"b":{"type":"number"}},"required":["k","b"]}]}`, `{"type":"object","properties":{"k":{"type":"string"},"a":{"type":"string"},"b":{"type":"number"}},"required":["k"]}`},
		{"root keywords", `{"type":"object","properties":{},"not":{},"enum":[1],"if":{},"then":{},"else":{},"$schema":"x","$id":"y","$comment":"z","x-foo":1}`, `{"type":"object","properties":{}}`},
		{"property called not", `{"type":"object","properties":{"not":{"type":"string"},"x-y":{"type":"string"},"$id":{"type":"string"}}}`, `{"type":"object","properties":{"not":{"type":"string"},"x-y":{"type":"string"},"$id":{"type":"string"}}}`},
		{"definitions", `{"type":"object","properties":{"a":{"$ref":"#/definitions/n"}},"definitions":{"n":{"type":"object","properties":{"next":{"$ref":"#/definitions/n"}}}}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`},
		{"dangling", `{"type":"object","properties":{"a":{"$ref":"#/$defs/gone"},"b":{"$ref":"https://example.com/s.json"}}}`, `{"type":"object","properties":{"a":{},"b":{}}}`},
		{"array without items", `{"type":"object","properties":{"a":{"type":"array"}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{}}}}`},
		{"boolean property", `{"type":"object","properties":{"a":true,"b":null}}`, `{"type":"object","properties":{"a":{},"b":{}}}`},
		{"bad labels", `{"type":"object","description":42,"properties":{"a":{"type":"string","title":[],"description":{}}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"order and numbers", `{"type":"object","properties":{"zebra":{"type":"integer","maximum":9007199254740993},"apple":{},"mango":{"maximum":1e400}}}`, `{"type":"object","properties":{"zebra":{"type":"integer","maximum":9007199254740993},"apple":{},"mango":{}}}`},
		{"required of the wrong type", `{"type":"object","properties":{"a":{}},"required":"a"}`, `{"type":"object","properties":{"a":{}}}`},
		{"enum data stays", `{"type":"object","properties":{"a":{"enum":["x-y",{"$id":1}]}}}`, `{"type":"object","properties":{"a":{"enum":["x-y",{"$id":1}]}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := repair(json.RawMessage(c.in), 0)
			if string(got.Schema) != c.want {
				t.Errorf("\n got %s\nwant %s", got.Schema, c.want)
			}
			if again := repair(got.Schema, 0); string(again.Schema) != string(got.Schema) {
				t.Errorf("a second repair changes it to %s", again.Schema)
			}
		})
	}
}

// A repair of a wrong schema is reported with its place. A keyword that is removed only because
// providers don't know it is not reported.
func TestRepairsAreSaid(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"strin"}}}`:                                `inputSchema, a: type "strin" is unknown; any value is taken`,
		`{"type":"objekt","properties":{}}`:                                                    `inputSchema, its root: type "objekt" is unknown; an object is assumed`,
		`{"type":"object","properties":{"a":{"type":["string","nul"]}}}`:                       `inputSchema, a: type "nul" is unknown; any value is taken`,
		`{"type":"object","properties":{"a":{"properties":{"b":{"minLength":"3"}}}}}`:          `inputSchema, a.b: minLength can't be "3"; it was dropped`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/gone"}}}`:                         `inputSchema, its root: $ref "#/$defs/gone" leads nowhere; any value is taken`,
		`{"type":"object","properties":{"a":{"$ref":"https://example.com/s.json"}}}`:           `inputSchema, a: $ref "https://example.com/s.json" leads out of the schema; any value is taken`,
		`{"type":"object","properties":{"a":{"maximum":1e400}}}`:                               `inputSchema, a: maximum can't be 1e400; it was dropped`,
		`{"type":"object","properties":{"a":{}},"required":"a"}`:                               `inputSchema, its root: required must be a list of names, not "a"`,
		`{"type":"object","properties":[]}`:                                                    `inputSchema, its root: properties must be an object, not an array; it was dropped`,
		`{"type":"object","properties":{"a":"string"}}`:                                        `inputSchema, a: a string is not a schema; any value is accepted`,
		`{"type":"object","properties":{"a":{"enum":[]}}}`:                                     `inputSchema, a: enum must be a list with values; it was dropped`,
		`{"type":"object","properties":{"a":{"description":7}}}`:                               `inputSchema, a: description is a number and was dropped`,
		`{"$schema":"x","$id":"y","type":"object","properties":{"a":true,"x":{"x-foo":1}}}`:    "",
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:              "",
		`{"type":"object","properties":{"a":{"type":"array"},"b":{"items":true}},"x-order":1}`: "",
	} {
		if got := strings.Join(repair(json.RawMessage(in), 0).said, "\n"); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// A tool that can only run as a task is left out with a reason; one that can also run normally is not.
func TestToolsThatOnlyRunAsTasksAreLeftOut(t *testing.T) {
	t.Parallel()
	r := Reader{Wire: func(tool string) string { return tool }}
	page, err := r.Page(json.RawMessage(`{"tools":[
		{"name":"only","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},
		{"name":"may","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}},
		{"name":"not","inputSchema":{"type":"object"},"execution":null}]}`))
	if err != nil || len(page.Tools) != 2 || len(page.Skipped) != 1 || page.Skipped[0] != (Skipped{"only", "left out: it runs as a task only, which jcode does not speak"}) {
		t.Errorf("%+v %v", page, err)
	}
}

func TestRepairNamesAlternatives(t *testing.T) {
	got := repair(json.RawMessage(`{"oneOf":[{"properties":{"path":{}},"required":["path"]},{"title":"By URL","properties":{"url":{}},"required":["url"]}]}`), 0)
	if want := "Arguments: exactly one of: {path} | By URL {url}."; got.Note != want {
		t.Errorf("note %q, want %q", got.Note, want)
	}
}

func TestRepairKeepsLargeToolsWithoutInnerDescriptions(t *testing.T) {
	long := `{"type":"object","properties":{"a":{"type":"string","description":"` + strings.Repeat("d", 2000) + `"}`
	for i := range 10 {
		long += `,"p` + string(rune('a'+i)) + `":{"type":"string","description":"` + strings.Repeat("d", 2000) + `"}`
	}
	got := repair(json.RawMessage(long+"}}"), 0)
	if !got.slim || got.tooLarge || strings.Contains(string(got.Schema), "ddd") {
		t.Errorf("slim %v, too large %v, %d bytes", got.slim, got.tooLarge, len(got.Schema))
	}
	huge := `{"type":"object","properties":{"a":{"enum":["` + strings.Repeat("e", 20_000) + `"]}}}`
	if got := repair(json.RawMessage(huge), 0); !got.tooLarge {
		t.Error("a schema of 20 kB must be left out")
	}
}

// For any input, the result is an object schema whose references resolve.
func TestRepairAlwaysGivesASchema(t *testing.T) {
	keys := []string{"type", "properties", "items", "$ref", "$defs", "definitions", "anyOf", "allOf", "oneOf", "required", "enum", "not", "description", "additionalProperties", "x-a", "minimum", "minLength", "pattern", "uniqueItems", "const", "default", "prefixItems"}
	var value func(t *rapid.T, depth int) any
	value = func(t *rapid.T, depth int) any {
		if depth > 3 {
			return rapid.SampledFrom([]any{"object", "string", 1, true, nil, "#", "#/$defs/a", "#/definitions/a", "http://x"}).Draw(t, "leaf")
		}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return rapid.SampledFrom([]any{"object", "array", 1, true, nil, "#", "#/$defs/a", "#/properties/a"}).Draw(t, "leaf")
		case 1:
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "n") {
				list = append(list, value(t, depth+1))
			}
			return list
		}
		m := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			m[rapid.SampledFrom(append(keys, "a", "b")).Draw(t, "key")] = value(t, depth+1)
		}
		return m
	}
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(value(t, 0))
		if err != nil {
			t.Fatal(err)
		}
		got := repair(raw, 0)
		var s struct {
			Type       string
			Properties map[string]json.RawMessage
			AnyOf      any `json:"anyOf"`
			OneOf      any `json:"oneOf"`
			AllOf      any `json:"allOf"`
		}
		if err := json.Unmarshal(got.Schema, &s); err != nil || s.Type != "object" || s.Properties == nil || s.AnyOf != nil || s.OneOf != nil || s.AllOf != nil {
			t.Fatalf("%s → %s (%v)", raw, got.Schema, err)
		}
		var parsed jsonschema.Schema
		if err := json.Unmarshal(got.Schema, &parsed); err != nil {
			t.Fatalf("%s → %s: %v", raw, got.Schema, err)
		}
	})
}

func FuzzRepairSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#"}}}`))
	f.Add([]byte(`{"anyOf":[{"$ref":"#"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if out := repair(raw, 0); !json.Valid(out.Schema) {
			t.Fatalf("%q → %q", raw, out.Schema)
		}
	})
}
