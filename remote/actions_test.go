//go:build linux || darwin

package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"jcode/remote"
)

// actions are those of a session of the stage, and note what was done.
type actions struct{ c *conversation }

func (a actions) Undo(context.Context) (string, error) { a.c.do("undo"); return "Undid a.txt", nil }
func (a actions) Redo(context.Context) (string, error) { a.c.do("redo"); return "Redid a.txt", nil }
func (a actions) Rewind(ctx context.Context, seq int64, what string) (string, string, error) {
	a.c.do("rewind %d %s", seq, what)
	if seq == 7 { // as a conversation whose turn has just begun
		<-ctx.Done()
		return "", "", ctx.Err()
	}
	return "Rewound", "the prompt", nil
}

func (a actions) SetRole(_ context.Context, name string) error {
	if name == "none of the kind" {
		return errors.New("there is no such role")
	}
	a.c.do("role %s", name)
	return nil
}

func (a actions) Choices(context.Context) (remote.Choices, error) {
	return remote.Choices{Roles: []remote.Choice{{Name: "reviewer", Info: "looks"}}}, nil
}

func (a actions) Files(_ context.Context, query string, most int) ([]string, error) {
	return []string{fmt.Sprint(query, " ", most)}, nil
}
func (a actions) Output(name string) string { return "output of " + name }
func (a actions) Message(_ context.Context, name, said string) error {
	a.c.do("message %s %s", name, said)
	return nil
}
func (a actions) Stop(_ context.Context, name string) error { a.c.do("stop %s", name); return nil }

func withActions(o *remote.Offer) {
	c, _ := o.Conversation.(*conversation)
	o.Actions = actions{c}
}

// calls are all methods that do more than talk, with what each does.
func calls() map[string][2]any {
	return map[string][2]any{
		"undo": {remote.Undo{Session: "s1"}, "undo"}, "rewind": {remote.Rewind{Session: "s1", Seq: 3, What: "both"}, "rewind 3 both"},
		"role": {remote.RoleOf{Session: "s1", Name: "reviewer"}, "role reviewer"}, "agents.message": {remote.AgentOf{Session: "s1", Name: "ann", Text: "hurry"}, "message ann hurry"},
		"agents.stop": {remote.AgentOf{Session: "s1", Name: "ann"}, "stop ann"},
	}
}

// TestWhoControlsDoesWhatTheOwnerDoesWithCommands; who watches changes nothing, and a session that offers none says so.
func TestWhoControlsDoesWhatTheOwnerDoesWithCommands(t *testing.T) {
	t.Parallel()
	s := newStage(t, withActions)
	desk, watcher := s.connect("desk"), s.connect("watcher")
	desk.attach(remote.Control, nil)
	watcher.attach(remote.Watch, nil)
	for method, call := range calls() {
		if got := watcher.refusal(method, call[0]); !strings.Contains(got, "watches") {
			t.Errorf("%s: %s", method, got)
		}
		if got := s.conv.done(); len(got) != 0 {
			t.Fatalf("%s of a watcher: %q", method, got)
		}
	}
	for method, call := range calls() {
		before := len(s.conv.done())
		if err := desk.Call(t.Context(), method, call[0], nil); err != nil {
			t.Errorf("%s: %v", method, err)
		}
		if got := s.conv.done()[before:]; len(got) != 1 || got[0] != call[1] {
			t.Errorf("%s: %q", method, got)
		}
	}
	var back remote.Rewound
	if err := desk.Call(t.Context(), "rewind", remote.Rewind{Session: "s1", Seq: 3}, &back); err != nil || back.Draft != "the prompt" {
		t.Errorf("%+v %v", back, err)
	}
	var choices remote.Choices
	if err := desk.Call(t.Context(), "choices", remote.Of{Session: "s1"}, &choices); err != nil || len(choices.Roles) != 1 || choices.Models == nil {
		t.Errorf("%+v %v", choices, err)
	}
	var out remote.AgentOutput
	if err := watcher.Call(t.Context(), "agents.output", remote.AgentOf{Session: "s1", Name: "ann"}, &out); err != nil || out.Text != "output of ann" {
		t.Errorf("%+v %v", out, err)
	}
	if got := desk.refusal("role", remote.RoleOf{Session: "s1", Name: "none of the kind"}); !strings.Contains(got, "no such role") {
		t.Error(got)
	}
	desk.refusal("rewind", remote.Rewind{Session: "s1", Seq: 3, What: "all"})
	bare := newStage(t)
	c := bare.connect("desk")
	c.attach(remote.Control, nil)
	for method, call := range calls() {
		c.refusal(method, call[0])
	}
}

// TestNothingWaitsForTheEndOfATurn: what has its place between two turns says so.
func TestNothingWaitsForTheEndOfATurn(t *testing.T) {
	t.Parallel()
	s := newStage(t, withActions)
	c := s.connect("desk")
	c.attach(remote.Control, nil)
	s.conv.mu.Lock()
	s.conv.state.Busy = true
	s.conv.mu.Unlock()
	for _, method := range []string{"undo", "rewind", "role"} {
		if got := c.refusal(method, calls()[method][0]); !strings.Contains(got, "a turn is running") {
			t.Errorf("%s: %s", method, got)
		}
	}
	if got := s.conv.done(); len(got) != 0 {
		t.Errorf("done: %q", got)
	}
}

// TestAPictureGoesAlongWithAPrompt: its type is what it is, and something else is refused.
func TestAPictureGoesAlongWithAPrompt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	c := s.connect("phone")
	c.attach(remote.Control, nil)
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 2))); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(t.Context(), "prompt", remote.Prompt{Session: "s1", Text: "look", Pictures: []remote.Picture{{Name: "shot.jpg\n", Data: b.Bytes()}}}, nil); err != nil {
		t.Fatal(err)
	}
	if got := s.conv.done(); len(got) != 1 || got[0] != "prompt look [image/png] shown look\n[shot.jpg 4×2]" {
		t.Errorf("%q", got)
	}
	for _, data := range [][]byte{nil, []byte("<svg onload=alert(1)>"), b.Bytes()[:20]} {
		c.refusal("prompt", remote.Prompt{Session: "s1", Text: "look", Pictures: []remote.Picture{{Name: "x.png", Data: data}}})
	}
	c.refusal("prompt", remote.Prompt{Session: "s1", Text: "look", Pictures: make([]remote.Picture, 9)})
}

var update = flag.Bool("update-docs", false, "write the schema")

const schemaFile = "../docs/remote.schema.json"

// TestSchemaOfTheSessionProtocol: docs/remote.schema.json is what the types say.
func TestSchemaOfTheSessionProtocol(t *testing.T) {
	t.Parallel()
	opts := &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {}, reflect.TypeFor[[]byte](): {Type: "string", ContentEncoding: "base64"},
	}}
	type part struct {
		Params *jsonschema.Schema `json:"params,omitempty"`
		Result *jsonschema.Schema `json:"result,omitempty"`
	}
	whole := struct {
		Title         string          `json:"title"`
		Version       int             `json:"version"`
		Methods       map[string]part `json:"methods"`
		Notifications map[string]part `json:"notifications"`
	}{"jcode session protocol", remote.Version, map[string]part{}, map[string]part{}}
	of := func(v any) *jsonschema.Schema {
		if v == nil {
			return nil
		}
		s, err := jsonschema.ForType(reflect.TypeOf(v), opts)
		if err != nil {
			t.Fatalf("%T: %v", v, err)
		}
		return s
	}
	for name, v := range remote.Methods() {
		whole.Methods[name] = part{of(v[0]), of(v[1])}
	}
	for name, v := range map[string]any{remote.NoteEvent: remote.Event{}, remote.NoteEnded: remote.Ended{}, remote.NoteDraw: remote.Draw{}, remote.NoteLeft: remote.Left{}} {
		whole.Notifications[name] = part{Params: of(v)}
	}
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
		t.Errorf("%s is not what the types say (%v): go test ./remote -update-docs", schemaFile, err)
	}
	s := newStage(t)
	c := s.connect("any")
	for name := range remote.Methods() {
		if err := c.Call(t.Context(), name, nil, nil); err != nil && strings.Contains(err.Error(), "method not found") {
			t.Errorf("%s is described, and is not there", name)
		}
	}
}
