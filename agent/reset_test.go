package agent_test

import (
	"context"
	"testing"

	"jcode/agent/event"
	"jcode/internal/testkit/modeltest"
	"jcode/tools"
)

// A provider may refuse a tool when it has begun to answer. What arrived is void then: the request is made again.
func TestWhatArrivedBeforeARefusalOfAToolIsVoid(t *testing.T) {
	t.Parallel()
	plain := func(name string) tools.Tool {
		return tool{spec: tools.Spec{Name: name, Description: "Does it.", Parameters: []byte(`{"type":"object","properties":{}}`)}, run: func(context.Context, tools.Call) (tools.Result, error) {
			return tools.Result{Text: name + " ran"}, nil
		}}
	}
	b, srv := polyglot(t, "test-model", []tools.Tool{plain("bad"), plain("good")}, nil,
		modeltest.Chunks(modeltest.TextChunk("Reading."), `{"error":{"message":"Invalid schema for function 'bad': type is missing","type":"invalid_request_error","code":400}}`),
		modeltest.Calls(modeltest.Call{Name: "good", Args: `{}`}), modeltest.Text("done"))
	end, events := b.turn("go")
	if end.Text != "done" || len(srv.Requests()) != 3 {
		t.Fatalf("%+v, %d requests", end, len(srv.Requests()))
	}
	shown := ""
	for _, ev := range events {
		switch ev := ev.(type) {
		case event.TextDelta:
			shown += ev.Text
		case event.AnswerReset:
			shown = ""
		}
	}
	if shown != "done" {
		t.Errorf("a reader of the events is left with %q", shown)
	}
}
