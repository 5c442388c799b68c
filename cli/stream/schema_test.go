package stream_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"jcode/cli/stream"
	"jcode/remote"
)

var update = flag.Bool("update-docs", false, "write the schema")

const schemaFile = "../../docs/input.schema.json"

// schema describes the lines that a program writes, made from the types of the session protocol, and the answers.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	opts := &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {}, reflect.TypeFor[[]byte](): {Type: "string", ContentEncoding: "base64"},
	}}
	of := func(v any) *jsonschema.Schema {
		s, err := jsonschema.ForType(reflect.TypeOf(v), opts)
		if err != nil {
			t.Fatalf("%T: %v", v, err)
		}
		return s
	}
	out := &jsonschema.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema", Title: "jcode input",
		Description: "One line of standard input with --input-format stream-json. Each is answered by a response.",
		Type:        "object", Required: []string{"type"}, Defs: map[string]*jsonschema.Schema{"response": of(stream.Response{}), "prompted": of(stream.Prompted{}), "served": of(stream.Served{}), "mcp": of(stream.Message{})},
	}
	methods := remote.Methods()
	methods["serve"], methods["mcp"] = [2]any{stream.Serve{}, nil}, [2]any{stream.Message{}, nil}
	for _, name := range slices.Sorted(slices.Values(append(remote.OwnMethods(), "prompt", "serve", "mcp"))) {
		s, kind := of(methods[name][0]), any(name)
		delete(s.Properties, "session")
		s.Title = name
		s.Properties["type"] = &jsonschema.Schema{Const: &kind}
		s.Properties["request"] = &jsonschema.Schema{Type: "string"}
		s.PropertyOrder = append([]string{"type", "request"}, slices.DeleteFunc(s.PropertyOrder, func(p string) bool { return p == "session" || p == "type" })...)
		s.Required = append([]string{"type"}, slices.DeleteFunc(s.Required, func(p string) bool { return p == "session" })...)
		out.AnyOf = append(out.AnyOf, s)
		if result := methods[name][1]; result != nil && name != "prompt" {
			out.Defs[name] = of(result)
		}
	}
	return out
}

// TestSchemaOfTheInput: docs/input.schema.json is what the types say.
func TestSchemaOfTheInput(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	whole := schema(t)
	if err := enc.Encode(whole); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(schemaFile)
	if err != nil || !bytes.Equal(kept, b.Bytes()) {
		t.Errorf("%s is not what the types say (%v): go test ./cli/stream -update-docs", schemaFile, err)
	}
	resolved, err := whole.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for line, fits := range map[string]bool{
		`{"type": "prompt", "text": "x"}`: true, `{"type": "answer", "id": "x", "option": 0, "request": "r"}`: true, `{"type": "set", "mode": "plan"}`: true, `{"type": "interrupt"}`: true,
		`{"type": "serve", "name": "app"}`: true, `{"type": "mcp", "server": "app", "message": {"jsonrpc": "2.0", "id": 1, "result": {}}}`: true, `{"type": "serve"}`: false,
		`{"type": "answer", "id": "x"}`: false, `{"type": "prompt", "text": "x", "session": "s"}`: false, `{"type": "dance"}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); (err == nil) != fits {
			t.Errorf("%s: %v", line, err)
		}
	}
}
