package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/modeltest"
	"jcode/tools"
)

// trained is a tool that some models were trained on, called with plain text where that is
// possible. Its runs are kept in got.
func trained(got *[]string) tools.Tool {
	return tool{
		spec: tools.Spec{
			Name: "apply_patch", Description: "Patches.", Parameters: []byte(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`),
			Freeform: "input", Grammar: "start: /.+/", Trained: true,
		},
		run: func(_ context.Context, c tools.Call) (tools.Result, error) {
			var a struct{ Input string }
			if err := json.Unmarshal(c.Arguments, &a); err != nil {
				return tools.Result{}, err
			}
			*got = append(*got, a.Input)
			return tools.Result{Text: "applied"}, nil
		},
	}
}

// training has the models of a list know the tool.
func training(ids ...string) func(*agent.Options) {
	return func(o *agent.Options) {
		resolve := o.Resolve
		o.Resolve = func(name string) (agent.Model, error) {
			m, err := resolve(name)
			if slices.Contains(ids, name) {
				m.Trained = []string{"apply_patch"}
			}
			return m, err
		}
	}
}

func offers(r modeltest.Request, name string) (modeltest.Tool, bool) {
	i := slices.IndexFunc(r.Tools, func(t modeltest.Tool) bool { return t.Name == name })
	if i < 0 {
		return modeltest.Tool{}, false
	}
	return r.Tools[i], true
}

func TestATrainedToolIsCalledOverEveryProtocol(t *testing.T) {
	t.Parallel()
	const text = "*** Begin Patch\n*** Add File: \"ä\"\n+x\n*** End Patch"
	eachProtocol(t, func(t *testing.T, id string) {
		var got []string
		arguments := fmt.Sprintf(`{"input":%q}`, text)
		custom := speaking()[id] == provider.Responses
		if custom {
			arguments = text
		}
		b, srv := polyglot(t, id, []tools.Tool{trained(&got)}, training(id), modeltest.Calls(modeltest.Call{Name: "apply_patch", Args: arguments}).ArgPieces(4), modeltest.Text("done"))
		if end, _ := b.turn("go"); end.Text != "done" || len(got) != 1 || got[0] != text {
			t.Fatalf("%+v %q", end, got)
		}
		offered, ok := offers(srv.Requests()[0], "apply_patch")
		if !ok || custom != (offered.Fields["type"] == "custom") || custom != strings.Contains(string(srv.Requests()[0].Raw), `"grammar"`) {
			t.Errorf("%+v", offered)
		}
		if said, _ := resultsOf(lastRequest(srv)); said != "applied" {
			t.Errorf("%q", said)
		}
	})
}

func TestATrainedToolIsForTheModelsThatKnowIt(t *testing.T) {
	t.Parallel()
	var got []string
	b, srv := polyglot(t, "gpt-5.6", []tools.Tool{trained(&got)}, training("gpt-5.6"),
		modeltest.Calls(modeltest.Call{Name: "apply_patch", Args: "one"}), modeltest.Text("done"), modeltest.Text("other"), modeltest.Text("back"))
	b.turn("go")
	for _, id := range []string{"claude-opus-5-5", "gpt-5.6"} {
		if err := b.SetModel(id); err != nil {
			t.Fatal(err)
		}
		if end, _ := b.turn("and now"); end.Reason != event.StopDone {
			t.Fatalf("%+v", end)
		}
		if _, ok := offers(lastRequest(srv), "apply_patch"); ok != (id == "gpt-5.6") {
			t.Errorf("%s: offered %v", id, ok)
		}
	}
}

// A model that patches is offered nothing else that changes files, and may still say that the session can.
func TestAToolInWhosePlaceAnotherIsOfferedIsLeftOut(t *testing.T) {
	t.Parallel()
	var got []string
	plain := func(name string) tools.Tool {
		return tool{spec: tools.Spec{Name: name, Description: "Does it.", Parameters: []byte(`{"type":"object","properties":{}}`)}, run: func(context.Context, tools.Call) (tools.Result, error) {
			return tools.Result{Text: name + " ran"}, nil
		}}
	}
	list := []tools.Tool{trained(&got)}
	for _, name := range []string{"edit", "write", "mkdir", "remove", "mv", "read"} {
		list = append(list, plain(name))
	}
	b, srv := polyglot(t, "gpt-5.6", list, training("gpt-5.6"), modeltest.Calls(modeltest.Call{Name: "edit", Args: `{}`}), modeltest.Text("done"), modeltest.Text("other"))
	b.turn("go")
	if names := srv.Requests()[0].ToolNames(); !slices.Equal(names, []string{"apply_patch", "read"}) {
		t.Errorf("offered %v", names)
	}
	if said, _ := resultsOf(lastRequest(srv)); said != "edit ran" { // a model that knows it anyway is not refused
		t.Errorf("%q", said)
	}
	if err := b.SetModel("claude-opus-5-5"); err != nil {
		t.Fatal(err)
	}
	b.turn("and now")
	if names := lastRequest(srv).ToolNames(); slices.Contains(names, "apply_patch") || !slices.Contains(names, "edit") || !slices.Contains(names, "mv") {
		t.Errorf("another model is offered %v", names)
	}
}

func TestAnEndpointWithoutGrammarsOrPlainTextGetsAFunction(t *testing.T) {
	t.Parallel()
	var got []string
	b, srv := polyglot(t, "gpt-5.6", []tools.Tool{trained(&got)}, training("gpt-5.6"),
		modeltest.Error(400, "invalid_request_error", "Unknown parameter: 'tools[0].format'."), modeltest.Error(400, "invalid_request_error", "Invalid value: 'custom'. Supported values are: 'function'."),
		modeltest.Calls(modeltest.Call{Name: "apply_patch", Args: `{"input":"one"}`}), modeltest.Text("done"))
	if end, _ := b.turn("go"); end.Text != "done" || len(got) != 1 || got[0] != "one" {
		t.Fatalf("%+v %q", end, got)
	}
	var kinds []string
	for _, r := range srv.Requests() {
		offered, _ := offers(r, "apply_patch")
		_, form := offered.Fields["format"]
		kinds = append(kinds, fmt.Sprintf("%v %v", offered.Fields["type"], form))
	}
	if want := []string{"custom true", "custom false", "function false", "function false"}; !slices.Equal(kinds, want) {
		t.Errorf("%q, want %q", kinds, want)
	}
}
