package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"jcode/agent/event"
	"jcode/agent/event/wire"
	"jcode/tools"
)

var update = flag.Bool("update-docs", false, "write the generated pages")

const schemaFile = "../../../docs/events.schema.json"

// samples returns one event of each type with a value of its own in every field.
func samples() []event.Event {
	types := []event.Event{
		event.TurnStart{},
		event.StepStart{},
		event.TextDelta{},
		event.ReasoningDelta{},
		event.AnswerReset{},
		event.CallWriting{},
		event.AssistantMessage{},
		event.CallStart{},
		event.CallProgress{},
		event.CallEnd{},
		event.ApprovalAsked{},
		event.ApprovalClosed{},
		event.ApprovalDecided{},
		event.AskPerson{},
		event.AskForm{},
		event.AskClosed{},
		event.TodoChanged{},
		event.ToolsChanged{},
		event.Notice{},
		event.Retrying{},
		event.Compacting{},
		event.Compacted{},
		event.Rewound{},
		event.Usage{},
		event.QueueChanged{},
		event.Preparing{},
		event.Unsent{},
		event.StateChanged{},
		event.TurnEnd{},
		event.NotesUsed{},
		event.AgentChanged{},
	}
	n := 1000
	out := make([]event.Event, 0, len(types))
	for _, ev := range types {
		v := reflect.New(reflect.TypeOf(ev)).Elem()
		fill(v, &n)
		out = append(out, v.Interface().(event.Event))
	}
	return out
}

// fill gives every field a value that is found nowhere else.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(*n, 1, 2, 3, 4, 5, 0, time.UTC)))
		return
	case time.Duration:
		v.SetInt(int64(*n) * int64(time.Millisecond))
		return
	case json.RawMessage:
		v.SetBytes(fmt.Appendf(nil, `{"raw":%d}`, *n))
		return
	case []byte:
		v.SetBytes([]byte("bytes"))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("s", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), n)
			}
		}
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[error]() {
			v.Set(reflect.ValueOf(errors.New(fmt.Sprint("s", *n))))
		} else {
			v.Set(reflect.ValueOf(fmt.Sprint("s", *n)))
		}
	}
}

// leaves returns the values of all exported fields, with the place of each.
func leaves(v reflect.Value, place string, yield func(place, value string)) {
	switch x := v.Interface().(type) {
	case time.Time:
		yield(place, x.Format("2006"))
		return
	case time.Duration:
		yield(place, fmt.Sprint(x.Milliseconds()))
		return
	case json.RawMessage:
		yield(place, string(x))
		return
	case error:
		yield(place, x.Error())
		return
	case []byte:
		return
	}
	switch v.Kind() {
	case reflect.String, reflect.Int, reflect.Int64, reflect.Float64:
		yield(place, fmt.Sprint(v.Interface()))
	case reflect.Pointer, reflect.Interface:
		leaves(v.Elem(), place, yield)
	case reflect.Slice:
		leaves(v.Index(0), place, yield)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				leaves(v.Field(i), place+"."+f.Name, yield)
			}
		}
	}
}

// leftOut are the fields that a line does not carry, and why.
var leftOut = map[string]string{
	"TurnEnd.Err":                        "its words are Error",
	"Preparing.Prompt.Text":              "what is shown counts",
	"Unsent.Prompt.Text":                 "what is shown counts",
	"Unsent.Prompt.Queued":               "Queued says it",
	"ApprovalAsked.Question.Title":       "the heading holds it",
	"Usage.Step.Summed":                  "of one step's counting only",
	"Usage.Total.Summed":                 "of one step's counting only",
	"CallEnd.Result.Parts.Data":          "bytes",
	"ApprovalAsked.Question.Options.Key": "a key of the terminal",
}

// TestEveryEventHasAForm: none that the package declares is left out.
func TestEveryEventHasAForm(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "event.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	have := []string{"Nested"}
	for _, ev := range samples() {
		have = append(have, reflect.TypeOf(ev).Name())
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != "event" {
			continue
		}
		if name := f.Recv.List[0].Type.(*ast.Ident).Name; !slices.Contains(have, name) {
			t.Errorf("no sample of %s", name)
		}
	}
	for _, ev := range samples() {
		if wire.Of(ev) == nil {
			t.Errorf("%T has no form", ev)
		}
	}
}

// TestNothingOfAnEventIsLost: each field that was filled is found in the line.
func TestNothingOfAnEventIsLost(t *testing.T) {
	t.Parallel()
	for _, ev := range samples() {
		line := string(wire.Encode(wire.Of(ev)))
		leaves(reflect.ValueOf(ev), reflect.TypeOf(ev).Name(), func(place, value string) {
			for prefix := range leftOut {
				if place == prefix || strings.HasPrefix(place, prefix+".") {
					return
				}
			}
			if strings.HasPrefix(place, "Preparing.Prompt.") || strings.HasPrefix(place, "Unsent.Prompt.") {
				if !strings.HasSuffix(place, ".Shown") && !strings.HasSuffix(place, ".Queued") {
					return // what else a prompt carries goes to the model
				}
			}
			if !strings.Contains(line, value) {
				t.Errorf("%s (%s) is not in %s", place, value, line)
			}
		})
	}
}

// TestSubAgentsEventsAreMarked with the innermost agent.
func TestSubAgentsEventsAreMarked(t *testing.T) {
	t.Parallel()
	inner := event.Nested{CallID: "c2", Session: "s2", Label: "deep", Dir: "/tree", Event: event.TextDelta{Text: "x"}}
	got := string(wire.Encode(wire.Numbered(event.Numbered{First: 7, Last: 9, Event: event.Nested{CallID: "c1", Session: "s1", Label: "outer", Event: inner}})))
	want := `{"type":"text","n":7,"to":9,"delta":"x","agent":"deep","agent_session":"s2","parent":"c2","worktree":"/tree"}`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestWhatCannotBeEncodedIsSaid and breaks no line: arguments that are no JSON, data of a script.
func TestWhatCannotBeEncodedIsSaid(t *testing.T) {
	t.Parallel()
	for _, ev := range []event.Event{
		event.CallStart{ID: "1", Name: "read", Arguments: json.RawMessage(`{"path": "a`)},
		event.CallStart{ID: "1", Name: "read"},
		event.CallEnd{ID: "1", Result: tools.Result{Text: "the text", Data: map[string]any{"f": func() {}}}},
		event.TextDelta{Text: "\u2028\u0085\x00\xff\n"},
	} {
		line := wire.Encode(wire.Of(ev))
		if !json.Valid(line) || bytes.ContainsAny(line, "\n\u0085\u2028") {
			t.Errorf("%T: %q", ev, line)
		}
		if bytes.Contains(line, []byte(`"notice"`)) {
			t.Errorf("%T became a notice: %s", ev, line)
		}
	}
}

// schema describes all lines, made from their Go types.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	opts := &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {}, reflect.TypeFor[[]byte](): {Type: "string", ContentEncoding: "base64"},
	}}
	out := &jsonschema.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema", Title: "jcode events", Description: fmt.Sprintf("One line of what happens in a session, version %d. Readers ignore types and fields that they do not know.", wire.Version),
		Type: "object", Required: []string{"type"},
	}
	for _, ev := range samples() {
		line := wire.Of(ev)
		s, err := jsonschema.ForType(reflect.TypeOf(line).Elem(), opts)
		if err != nil {
			t.Fatalf("%T: %v", line, err)
		}
		var kind struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(wire.Encode(line), &kind); err != nil {
			t.Fatal(err)
		}
		name := any(kind.Type)
		s.Title, s.Properties["type"], s.AdditionalProperties = kind.Type, &jsonschema.Schema{Const: &name}, nil
		out.AnyOf = append(out.AnyOf, s)
	}
	return out
}

// TestSchemaOfEvents: docs/events.schema.json is what the types say, and each line fits its own part.
func TestSchemaOfEvents(t *testing.T) {
	t.Parallel()
	whole := schema(t)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
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
		t.Errorf("%s is not what the types say (%v): go test ./agent/event/wire -update-docs", schemaFile, err)
	}
	resolved, err := whole.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range samples() {
		var v any
		if err := json.Unmarshal(wire.Encode(wire.Of(ev)), &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); err != nil {
			t.Errorf("%T: %v", ev, err)
		}
	}
	if err := resolved.Validate(map[string]any{"type": "text"}); err == nil {
		t.Error("a line without its fields fits")
	}
}
