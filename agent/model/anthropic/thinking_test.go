package anthropic_test

import (
	"fmt"
	"strings"
	"testing"

	"jcode/agent/model"
	"jcode/internal/testkit/modeltest"
)

// side is a request beside a conversation.
func side(id string, purpose model.Purpose) model.Request {
	req := ask("Name this.")
	req.Model, req.Purpose, req.MaxOutputTokens = id, purpose, 200
	return req
}

// refusesOff refuses what models refuse that always think, in the words of their maker.
func refusesOff(r modeltest.Request) string {
	t, _ := r.Fields["thinking"].(map[string]any)
	if kind, _ := t["type"].(string); kind != "" && kind != "adaptive" {
		return fmt.Sprintf(`"thinking.type.%s" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`, kind)
	}
	return ""
}

func TestAModelThatAlwaysThinksIsNeverToldNotTo(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"claude-opus-5-5", "us.anthropic.claude-opus-5-5-v1:0", "claude-fable-5", "claude-fable-5-1", "claude-mythos-5", "claude-mythos-preview"} {
		t.Run(id, func(t *testing.T) {
			srv := modeltest.New(t, modeltest.RefuseIf(refusesOff, modeltest.Text("ok")).Forever())
			c := newClient(t, srv.URL())
			turn := ask("x")
			turn.Model = id
			for _, req := range []model.Request{side(id, model.PurposeTitle), side(id, model.PurposeSummary), turn} {
				if _, s, err := stream(t, c, req); err != nil || len(s.notes) > 0 {
					t.Fatalf("%q %v", s.notes, err)
				}
			}
			for _, r := range srv.Requests()[:2] {
				effort, _ := r.Fields["output_config"].(map[string]any)
				if most, _ := r.Fields["max_tokens"].(float64); r.Fields["thinking"] != nil || effort["effort"] != "low" || most < 4096 {
					t.Errorf("a side request: %s", r.Raw)
				}
			}
			if raw := string(srv.Requests()[2].Raw); !strings.Contains(raw, `"thinking":{"type":"adaptive"`) {
				t.Errorf("a turn: %s", raw)
			}
		})
	}
}

// What is refused is one thing, what is recommended another.
func TestARemedyAnswersToWhatWasRefused(t *testing.T) {
	t.Parallel()
	const id = "claude-sonnet-6" // of which nothing is known
	srv := modeltest.New(t, modeltest.RefuseIf(refusesOff, modeltest.Text("ok")).Forever())
	c := newClient(t, srv.URL())
	if _, s, err := stream(t, c, side(id, model.PurposeTitle)); err != nil || len(s.notes) != 1 {
		t.Fatalf("%q %v", s.notes, err)
	}
	turn := ask("x")
	turn.Model, turn.ReasoningEffort = id, "high"
	if _, s, err := stream(t, c, turn); err != nil || len(s.notes) > 0 {
		t.Fatalf("%q %v", s.notes, err)
	}
	last := string(srv.Requests()[2].Raw)
	if !strings.Contains(last, `"thinking":{"type":"adaptive"`) || !strings.Contains(last, `"output_config":{"effort":"high"}`) {
		t.Errorf("a refused “disabled” took the thinking of turns: %s", last)
	}
}

func TestABudgetThatIsRefusedBecomesAdaptiveThinking(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.RefuseIf(refusesOff, modeltest.Text("ok")).Forever())
	req := ask("x")
	req.Model, req.ReasoningEffort = "claude-opus-4-5", "high"
	if _, s, err := stream(t, newClient(t, srv.URL()), req); err != nil || len(s.notes) != 1 {
		t.Fatalf("%q %v", s.notes, err)
	}
	if raw := string(srv.Requests()[1].Raw); !strings.Contains(raw, `"thinking":{"type":"adaptive"`) || !strings.Contains(raw, `"effort":"high"`) {
		t.Errorf("%s", raw)
	}
}

func TestACallThatTheLimitCutBeforeItsFirstByteIsNotWhole(t *testing.T) {
	t.Parallel()
	chunks := func(reason string, arguments ...string) modeltest.Reply {
		all := []string{`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1}}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}`}
		for _, a := range arguments {
			all = append(all, fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%q}}`, a))
		}
		return modeltest.Chunks(append(all, `{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"`+reason+`"},"usage":{"output_tokens":7}}`, `{"type":"message_stop"}`)...)
	}
	for name, c := range map[string]struct {
		reply modeltest.Reply
		cut   bool
	}{
		"before the first byte":    {chunks("max_tokens"), true},
		"within":                   {chunks("max_tokens", `{"path":`), true},
		"behind the last":          {chunks("max_tokens", `{"path":"a"}`), false},
		"it never had any":         {chunks("tool_use"), false},
		"an empty object is whole": {chunks("max_tokens", `{}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			resp, _, err := stream(t, newClient(t, modeltest.New(t, c.reply).URL()), ask("x"))
			if err != nil || len(resp.Calls) != 1 || resp.Calls[0].Incomplete != c.cut {
				t.Errorf("%+v %v", resp, err)
			}
		})
	}
}

func TestABlockThatGrowsByUnknownDeltasIsKept(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Chunks(
		`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"What was "}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"said so far.","encrypted_content":"c2VjcmV0"}}`,
		`{"type":"content_block_stop","index":0}`, `{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Go on."}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`, `{"type":"message_stop"}`))
	resp, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
	want := `{"type":"compaction","content":"What was said so far.","encrypted_content":"c2VjcmV0"}`
	if err != nil || len(resp.Opaque) != 1 || resp.Opaque[0].Raw != want {
		t.Errorf("%+v %v", resp, err)
	}
}

func TestWrappedCallsAreMadeOneByOne(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Calls(modeltest.Call{Name: "parallel", Args: `{"tool_uses":[{"recipient_name":"functions.read","parameters":{"path":"a"}},{"recipient_name":"read","parameters":{"path":"b"}}]}`}))
	req := ask("x")
	req.Tools = []model.Tool{readTool("read")}
	resp, _, err := stream(t, newClient(t, srv.URL()), req)
	if err != nil || len(resp.Calls) != 2 || resp.Calls[0].Name != "read" || resp.Calls[1].Arguments != `{"path":"b"}` {
		t.Errorf("%+v %v", resp, err)
	}
}
