package responses_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"jcode/agent/model"
	"jcode/internal/testkit/modeltest"
)

// events plays events in their order.
func events(list ...string) modeltest.Reply {
	var b strings.Builder
	for _, e := range list {
		b.WriteString("data: " + e + "\n\n")
	}
	return modeltest.Raw(b.String())
}

func wholeAnswer(items ...string) string {
	return `{"type":"response.completed","response":{"id":"r1","model":"m","status":"completed","output":[` + strings.Join(items, ",") + `],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}}`
}

// message is one in its complete form.
func message(id, text string) string {
	return fmt.Sprintf(`{"type":"message",%s"status":"completed","role":"assistant","content":[{"type":"output_text","text":%q}]}`, idField(id), text)
}

func call(id, callID, args string) string {
	return fmt.Sprintf(`{"type":"function_call",%s"call_id":%q,"name":"read","status":"completed","arguments":%q}`, idField(id), callID, args)
}

func idField(id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf(`"id":%q,`, id)
}

func added(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, index, item)
}

func done(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, index, item)
}

func said(index int, id, text string) string {
	return fmt.Sprintf(`{"type":"response.output_text.delta","output_index":%d,"item_id":%q,"delta":%q}`, index, id, text)
}

func argued(index int, id, part string) string {
	return fmt.Sprintf(`{"type":"response.function_call_arguments.delta","output_index":%d,"item_id":%q,"delta":%q}`, index, id, part)
}

const thinking = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"abc"}`

// Some servers write the arguments of a call as an object, not as text.
func TestArgumentsThatAreAnObjectAreTheCallsArguments(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, events(wholeAnswer(`{"type":"function_call","id":"fc_1","call_id":"c1","name":"read","status":"completed","arguments":{"path":"a.go"}}`)))
	resp, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
	if err != nil || len(resp.Calls) != 1 || resp.Calls[0].Arguments != `{"path":"a.go"}` {
		t.Errorf("%+v %v", resp, err)
	}
}

func TestAnItemIsTheSameWhateverItsPlaceInTheCompleteAnswer(t *testing.T) {
	t.Parallel()
	argA, argB := `{"path":"a"}`, `{"path":"b"}`
	for name, c := range map[string]struct {
		events []string
		text   string
		calls  []string
	}{
		"items are left out of the complete answer": {
			[]string{
				added(0, thinking), done(0, thinking), added(1, message("m1", "")), said(1, "m1", "Hi."), done(1, message("m1", "Hi.")),
				added(2, call("f1", "c1", "")), done(2, call("f1", "c1", argA)), wholeAnswer(call("f1", "c1", argA)),
			},
			"Hi.",
			[]string{argA},
		},
		"reasoning is left out": {
			[]string{added(0, thinking), done(0, thinking), added(1, message("m1", "")), said(1, "m1", "Hi."), done(1, message("m1", "Hi.")), added(2, call("f1", "c1", "")), done(2, call("f1", "c1", argA)), wholeAnswer(message("m1", "Hi."), call("f1", "c1", argA))},
			"Hi.",
			[]string{argA},
		},
		"numbers start at 1": {
			[]string{added(1, message("m1", "")), said(1, "m1", "Hi."), done(1, message("m1", "Hi.")), added(2, call("f1", "c1", "")), done(2, call("f1", "c1", argA)), wholeAnswer(message("m1", "Hi."), call("f1", "c1", argA))},
			"Hi.",
			[]string{argA},
		},
		"numbers start at 1, and nothing has an ID": {
			[]string{added(1, message("", "")), said(1, "", "Hi."), done(1, message("", "Hi.")), added(2, call("", "", "")), done(2, call("", "", argA)), wholeAnswer(message("", "Hi."), call("", "", argA))},
			"Hi.",
			[]string{argA},
		},
		"all have one number": {
			[]string{added(0, message("m1", "")), said(0, "m1", "Hi."), done(0, message("m1", "Hi.")), added(0, call("f1", "c1", "")), done(0, call("f1", "c1", argA)), added(0, call("f2", "c2", "")), done(0, call("f2", "c2", argB)), wholeAnswer(message("m1", "Hi."), call("f1", "c1", argA), call("f2", "c2", argB))},
			"Hi.",
			[]string{argA, argB},
		},
		"the parts of two calls alternate under one number": {
			[]string{added(0, call("f1", "c1", "")), added(0, call("f2", "c2", "")), argued(0, "f1", argA[:5]), argued(0, "f2", argB[:5]), argued(0, "f1", argA[5:]), argued(0, "f2", argB[5:]), wholeAnswer()},
			"",
			[]string{argA, argB},
		},
		"a gateway gives other IDs each time": {
			[]string{added(0, message("x1", "")), said(0, "x2", "Hi."), done(0, message("x3", "Hi.")), added(1, call("y1", "c1", "")), done(1, call("y2", "c1", argA)), wholeAnswer(message("x4", "Hi."), call("y3", "c1", argA))},
			"Hi.",
			[]string{argA},
		},
		"two equal calls are two": {
			[]string{added(1, call("f1", "c1", "")), done(1, call("f1", "c1", argA)), added(2, call("f2", "c2", "")), done(2, call("f2", "c2", argA)), wholeAnswer(call("f1", "c1", argA), call("f2", "c2", argA))},
			"",
			[]string{argA, argA},
		},
		"what did not stream is taken from the end": {
			[]string{added(3, message("m1", "")), said(3, "m1", "Hi."), wholeAnswer(call("f1", "c1", argA), message("m1", "Hi."), call("f2", "c2", argB))},
			"Hi.",
			[]string{argA, argB},
		},
		"an end that was lost is found in the complete answer": {
			[]string{added(1, message("m1", "")), said(1, "m1", "H"), added(2, call("f1", "c1", "")), wholeAnswer(message("m1", "Hi."), call("f1", "c1", argA))},
			"Hi.",
			[]string{argA},
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := modeltest.New(t, events(c.events...))
			req := ask("x")
			req.Tools = []model.Tool{readTool("read")}
			resp, s, err := stream(t, newClient(t, srv.URL()), req)
			if err != nil {
				t.Fatal(err)
			}
			var calls []string
			for _, call := range resp.Calls {
				calls = append(calls, call.Arguments)
				if call.Name != "read" || call.Incomplete {
					t.Errorf("%+v", call)
				}
			}
			if resp.Text != c.text || s.text.String() != c.text || !slices.Equal(calls, c.calls) {
				t.Errorf("text %q, shown %q, calls %q", resp.Text, s.text.String(), calls)
			}
		})
	}
}

func TestWhatGoesBackIsKeptByteForByte(t *testing.T) {
	t.Parallel()
	const search = `{"id":"ts1","type":"tool_search_call",  "execution":"server", "call_id":null, "arguments":{"z":1, "a":[1.50]}, "content":"odd", "status":"completed"}`
	const output = `{"type":"tool_search_output","execution":"server","tools":[{"type":"namespace","name":"crm"}],"status":"completed","id":"to1"}`
	srv := modeltest.New(t, events(done(0, search), done(1, output), done(2, message("m1", "Found.")), wholeAnswer()), modeltest.Text("ok"))
	c := newClient(t, srv.URL())
	req := ask("x")
	resp, _, err := stream(t, c, req)
	if err != nil {
		t.Fatal(err)
	}
	next := answered(req, resp)
	next.Messages = append(next.Messages, model.Message{Role: model.RoleUser, Text: "go on"})
	if _, _, err := stream(t, c, next); err != nil {
		t.Fatal(err)
	}
	sent := string(srv.Requests()[1].Raw)
	for _, want := range []string{
		`{"type":"tool_search_call",  "execution":"server", "call_id":null, "arguments":{"z":1, "a":[1.50]}, "content":"odd", "status":"completed"}`,
		`{"type":"tool_search_output","execution":"server","tools":[{"type":"namespace","name":"crm"}],"status":"completed"}`,
	} {
		if !strings.Contains(sent, want) {
			t.Errorf("%s is not in %s", want, sent)
		}
	}
}

func TestWrappedCallsAreMadeOneByOne(t *testing.T) {
	t.Parallel()
	args := `{"tool_uses":[{"recipient_name":"functions.read","parameters":{"path":"a"}},{"recipient_name":"functions.read","parameters":"{\"path\":\"b\"}"}]}`
	item := strings.Replace(call("f1", "c1", args), `"name":"read"`, `"name":"multi_tool_use.parallel"`, 1)
	srv := modeltest.New(t, events(done(0, item), wholeAnswer(item)))
	resp, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
	if err != nil || len(resp.Calls) != 2 {
		t.Fatalf("%+v %v", resp, err)
	}
	if a, b := resp.Calls[0], resp.Calls[1]; a.Name != "read" || a.Arguments != `{"path":"a"}` || b.Arguments != `{"path":"b"}` || a.ID == b.ID {
		t.Errorf("%+v", resp.Calls)
	}
}

func TestAPatchThatTheLimitCutIsNotWhole(t *testing.T) {
	t.Parallel()
	item := `{"type":"custom_tool_call","id":"f1","call_id":"c1","name":"apply_patch","status":"incomplete","input":"*** Begin Patch"}`
	end := strings.Replace(wholeAnswer(item), `"status":"completed","output"`, `"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output"`, 1)
	srv := modeltest.New(t, events(done(0, item), end))
	req := ask("x")
	req.Tools = []model.Tool{{Name: "apply_patch", Freeform: "patch"}}
	resp, _, err := stream(t, newClient(t, srv.URL()), req)
	if err != nil || len(resp.Calls) != 1 || !resp.Calls[0].Incomplete {
		t.Errorf("%+v %v", resp, err)
	}
}

func TestABrokenPairOfReasoningTakesOnlyItself(t *testing.T) {
	t.Parallel()
	bad := false
	refuse := func(r modeltest.Request) string {
		if bad && strings.Contains(string(r.Raw), `"encrypted_content":"`) {
			return "Item 'rs_1' of type 'reasoning' was provided without its required following item."
		}
		return ""
	}
	srv := modeltest.New(t, modeltest.Text("Hi.").WithReasoning("So."), modeltest.RefuseIf(refuse, modeltest.Text("ok")).Forever())
	c := newClient(t, srv.URL())
	req := ask("x")
	req.ReasoningEffort = "high"
	resp, _, err := stream(t, c, req)
	if err != nil {
		t.Fatal(err)
	}
	bad = true
	next := answered(req, resp)
	next.Messages = append(next.Messages, model.Message{Role: model.RoleUser, Text: "go on"})
	if _, s, err := stream(t, c, next); err != nil || len(s.notes) != 1 {
		t.Fatalf("%q %v", s.notes, err)
	}
	all := srv.Requests()
	last := string(all[len(all)-1].Raw)
	if !strings.Contains(last, `"reasoning":{"effort":"high"`) || !strings.Contains(last, "reasoning.encrypted_content") || strings.Contains(last, `"encrypted_content":"`) {
		t.Errorf("%s", last)
	}
}
