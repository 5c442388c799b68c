package anthropic_test

import (
	"testing"

	"jcode/internal/testkit/modeltest"
)

func TestASecondMessageStartBeginsAgain(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Chunks(
		`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1}}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"old"}}`,
		`{"type":"message_start","message":{"model":"m2","usage":{"input_tokens":2}}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"new"}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"read","input":{}}}`, `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}`, `{"type":"message_stop"}`))
	resp, s, err := stream(t, newClient(t, srv.URL()), ask("x"))
	if err != nil || resp.Text != "new" || s.text.String() != "new" || resp.Model != "m2" || resp.Usage.Input != 2 || resp.Calls[0].Arguments != "{}" {
		t.Errorf("%+v %q %v", resp, s.text.String(), err)
	}
}

func TestACallThatSaysNothingIsNone(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Chunks(
		`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1}}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"done"}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"","input":{}}}`, `{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}`, `{"type":"message_stop"}`))
	resp, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
	if err != nil || resp.Text != "done" || len(resp.Calls) != 0 || resp.Finish != "stop" {
		t.Errorf("%+v %v", resp, err)
	}
}
