package responses_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/provider"
	"jcode/agent/model/responses"
	"jcode/internal/testkit/leaks"
	"jcode/internal/testkit/modeltest"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func newClient(t testing.TB, url string, change ...func(*provider.Config)) *responses.Client {
	t.Helper()
	cfg := provider.Config{
		Name: "openai", BaseURL: url, Key: "sk-very-secret-key", KeyEnv: "TEST_KEY", Protocol: provider.Responses,
		Limits: provider.Limits{Idle: time.Minute, Attempts: 3, Backoff: time.Millisecond, MaxBackoff: 2 * time.Millisecond},
	}
	for _, c := range change {
		c(&cfg)
	}
	c, err := responses.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

type seen struct {
	text, thought strings.Builder
	notes         []string
}

func (s *seen) emit(e model.Event) {
	switch e := e.(type) {
	case model.TextEvent:
		s.text.WriteString(e.Delta)
	case model.ReasoningEvent:
		s.thought.WriteString(e.Delta)
	case model.ResetEvent:
		s.text.Reset()
	case model.NoticeEvent:
		s.notes = append(s.notes, e.Text)
	}
}

func ask(text string) model.Request {
	return model.Request{Model: "gpt-5.6", Session: "s1", System: "You help.", Messages: []model.Message{{Role: model.RoleUser, Text: text}}}
}

func stream(t testing.TB, c model.Client, req model.Request) (model.Response, *seen, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s := &seen{}
	resp, err := c.Stream(ctx, req, s.emit)
	return resp, s, err
}

func answered(req model.Request, resp model.Response, results ...string) model.Request {
	req.Messages = append(req.Messages[:len(req.Messages):len(req.Messages)],
		model.Message{Role: model.RoleAssistant, Text: resp.Text, Reasoning: resp.Reasoning, Calls: resp.Calls, Opaque: resp.Opaque})
	for i, r := range results {
		req.Messages = append(req.Messages, model.Message{Role: model.RoleTool, CallID: resp.Calls[i].ID, Name: resp.Calls[i].Name, Text: r})
	}
	return req
}

func readTool(name string) model.Tool {
	return model.Tool{Name: name, Description: "Reads.", Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}
}

func TestReasoningGoesBackBetweenTheCallsItLedTo(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t,
		modeltest.Text("I look.").WithReasoning("let me ", "see").WithCalls(modeltest.Call{Name: "read", Args: `{"path":"a"}`}, modeltest.Call{Name: "read", Args: `{"path":"b"}`}).ArgPieces(3),
		modeltest.Text("done").WithReasoning("so"), modeltest.Text("bye"))
	c := newClient(t, srv.URL())
	req := ask("go")
	req.Tools = []model.Tool{readTool("read")}
	resp, s, err := stream(t, c, req)
	if err != nil || resp.Text != "I look." || resp.Reasoning != "let me see" || len(resp.Calls) != 2 || resp.Finish != "tool_calls" || s.thought.String() != "let me see" {
		t.Fatalf("%+v %v", resp, err)
	}
	req = answered(req, resp, "A", "")
	if resp, _, err = stream(t, c, req); err != nil || resp.Text != "done" {
		t.Fatalf("%+v %v", resp, err)
	}
	r := srv.Requests()
	raw := string(r[1].Raw)
	if strings.Count(raw, "encrypted_content\":\"gAAAA") != 1 || strings.Contains(raw, "unfinished") || strings.Contains(raw, "rs_") || !strings.Contains(raw, `"phase":"commentary"`) {
		t.Errorf("%s", raw)
	}
	if r[0].Fields["store"] != false || r[0].Fields["prompt_cache_key"] != "s1" || r[0].Fields["parallel_tool_calls"] != true {
		t.Errorf("%s", r[0].Raw)
	}
	if !strings.HasPrefix(raw, strings.TrimSuffix(string(r[0].Raw), "]}")) {
		t.Errorf("the second request does not begin like the first:\n%s\n%s", r[0].Raw, raw)
	}
	req.Model = "gpt-5.2"
	if _, _, err := stream(t, c, req); err != nil || strings.Contains(string(srv.Requests()[2].Raw), "gAAAA") {
		t.Errorf("another model: %v", err)
	}
}

func TestToolsWithPlainTextAreCalledWithIt(t *testing.T) {
	t.Parallel()
	patch := "*** Begin Patch\n*** Add File: \"a\"\n+x\n*** End Patch"
	srv := modeltest.New(t, modeltest.Calls(modeltest.Call{Name: "apply_patch", Args: patch}).ArgPieces(5), modeltest.Text("ok").Forever())
	c := newClient(t, srv.URL())
	req := ask("go")
	req.Tools = []model.Tool{{Name: "apply_patch", Description: "Patches.", Freeform: "patch", Parameters: []byte(`{"type":"object","properties":{"patch":{"type":"string"}},"required":["patch"]}`)}}
	resp, _, err := stream(t, c, req)
	if err != nil || len(resp.Calls) != 1 || resp.Calls[0].Arguments != `{"patch":"*** Begin Patch\n*** Add File: \"a\"\n+x\n*** End Patch"}` {
		t.Fatalf("%+v %v", resp, err)
	}
	req = answered(req, resp, "done")
	if _, _, err := stream(t, c, req); err != nil {
		t.Fatal(err)
	}
	if raw := string(srv.Requests()[1].Raw); !strings.Contains(raw, `"custom_tool_call_output"`) || !strings.Contains(raw, `"input":"*** Begin Patch`) {
		t.Errorf("%s", raw)
	}
	req.Model = "gpt-5.2" // another model gets the call as a function's
	if _, _, err := stream(t, c, req); err != nil {
		t.Fatal(err)
	}
}

func completed(output string, more string) string {
	return `{"type":"response.completed","sequence_number":99,"response":{"model":"m","status":"completed","output":[` + output + `],"usage":{"input_tokens":12,"output_tokens":1,"total_tokens":303}` + more + `}}`
}

func TestEventsOutOfOrderAndTwice(t *testing.T) {
	t.Parallel()
	message := `{"id":"m1","type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello wörld"}]}`
	call := `{"id":"f1","type":"function_call","call_id":"c1","name":"read","arguments":"{\"p\":1}"}`
	for name, chunks := range map[string][]string{
		"in order": {
			`{"type":"response.created","sequence_number":0,"response":{}}`, `{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"message","id":"x"}}`,
			`{"type":"response.output_text.delta","sequence_number":2,"output_index":0,"delta":"Hello "}`, `{"type":"response.output_text.delta","sequence_number":3,"output_index":0,"delta":"wörld"}`,
			`{"type":"response.output_item.done","sequence_number":4,"output_index":0,"item":` + message + `}`, `{"type":"response.output_item.added","sequence_number":5,"output_index":1,"item":{"type":"function_call","call_id":"c1","name":"read"}}`,
			`{"type":"response.function_call_arguments.delta","sequence_number":6,"output_index":1,"delta":"{\"p\":1}"}`, `{"type":"response.output_item.done","sequence_number":7,"output_index":1,"item":` + call + `}`, completed(message+","+call, ""),
		},
		"deltas twice": {
			`{"type":"response.output_text.delta","sequence_number":2,"output_index":0,"delta":"Hello "}`, `{"type":"response.output_text.delta","sequence_number":2,"output_index":0,"delta":"Hello "}`,
			`{"type":"response.output_text.delta","sequence_number":3,"output_index":0,"delta":"wörld"}`, completed(message+","+call, ""),
		},
		"a delta lost": {
			`{"type":"response.output_text.delta","sequence_number":2,"output_index":0,"delta":"Hello "}`, `{"type":"response.output_item.done","sequence_number":9,"output_index":0,"item":` + message + `}`,
			`{"type":"response.function_call_arguments.delta","sequence_number":12,"output_index":1,"delta":"{\"p\""}`, completed(message+","+call, ""),
		},
		"the call first":     {`{"type":"response.output_item.done","output_index":1,"item":` + call + `}`, `{"type":"response.output_text.delta","output_index":0,"delta":"Hello wörld"}`, completed(message+","+call, "")},
		"another text first": {`{"type":"response.output_text.delta","output_index":0,"delta":"Hullo"}`, completed(message+","+call, "")},
		"the end alone":      {completed(message+","+call, "")},
	} {
		t.Run(name, func(t *testing.T) {
			srv := modeltest.New(t, modeltest.Chunks(chunks...))
			resp, s, err := stream(t, newClient(t, srv.URL()), ask("x"))
			if err != nil || resp.Text != "Hello wörld" || s.text.String() != resp.Text || len(resp.Calls) != 1 || resp.Calls[0].Arguments != `{"p":1}` || resp.Calls[0].ID != "c1" {
				t.Errorf("%+v, shown %q, %v", resp, s.text.String(), err)
			}
			if resp.Usage != (model.Usage{Input: 12, Output: 291}) {
				t.Errorf("%+v", resp.Usage)
			}
		})
	}
}

func TestEndsOfAResponse(t *testing.T) {
	t.Parallel()
	if resp, _, err := stream(t, newClient(t, modeltest.New(t, modeltest.Text("x").Finish("length")).URL()), ask("x")); err != nil || resp.Finish != "length" {
		t.Errorf("%+v %v", resp, err)
	}
	refusal := `{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I won't."}]}`
	if resp, s, err := stream(t, newClient(t, modeltest.New(t, modeltest.Chunks(`{"type":"response.refusal.delta","output_index":0,"delta":"I "}`, completed(refusal, ""))).URL()), ask("x")); err != nil || resp.Finish != "content_filter" || s.text.String() != "I won't." {
		t.Errorf("%+v %v", resp, err)
	}
	wrapped := `{"type":"function_call","call_id":"w","name":"multi_tool_use.parallel","arguments":"{\"tool_uses\":[{\"recipient_name\":\"functions.read\",\"parameters\":{\"p\":1}},{\"recipient_name\":\"functions.grep\",\"parameters\":{}}]}"}`
	if resp, _, err := stream(t, newClient(t, modeltest.New(t, modeltest.Chunks(completed(wrapped, ""))).URL()), ask("x")); err != nil || len(resp.Calls) != 2 || resp.Calls[0].Name != "read" || resp.Calls[0].Arguments != `{"p":1}` || resp.Calls[1].Name != "grep" {
		t.Errorf("%+v %v", resp, err)
	}
	whole := `{"object":"response","model":"m","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"one"}]}]}`
	if resp, _, err := stream(t, newClient(t, modeltest.New(t, modeltest.Status(200, nil, whole)).URL()), ask("x")); err != nil || resp.Text != "one" {
		t.Errorf("%+v %v", resp, err)
	}
}

func TestErrorsAreJudged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply modeltest.Reply
		class model.ErrorClass
		tries int
	}{
		"401":              {modeltest.Error(401, "invalid_request_error", "Incorrect API key provided: sk-very-secret-key"), model.ClassAuth, 1},
		"quota":            {modeltest.Error(429, "insufficient_quota", "You exceeded your current quota"), model.ClassCredit, 1},
		"failed":           {modeltest.Text("x").Finish("error"), model.ClassServer, 3},
		"failed, overflow": {modeltest.Chunks(`{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}`), model.ClassOverflow, 1},
		"error event":      {modeltest.Chunks(`{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null}`), model.ClassServer, 3},
		"error, request":   {modeltest.Chunks(`{"type":"error","error":{"type":"invalid_request_error","code":null,"message":"no"}}`), model.ClassRequest, 1},
		"error, plain":     {modeltest.Chunks(`{"error":{"type":"invalid_request_error","message":"no"}}`), model.ClassRequest, 1},
		"cut":              {modeltest.Text("x").CutAfter(4), model.ClassNetwork, 3},
		"ended early":      {modeltest.Text("x").EndAfter(4), model.ClassNetwork, 3},
		"wrong address":    {modeltest.Status(404, nil, `{"detail":"Not Found"}`), model.ClassRequest, 1},
	} {
		t.Run(name, func(t *testing.T) {
			srv := modeltest.New(t, c.reply.Forever())
			_, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
			var bad *model.Error
			if !errors.As(err, &bad) || bad.Class != c.class || len(srv.Requests()) != c.tries || strings.Contains(bad.Text, "secret") {
				t.Errorf("%d requests, %v", len(srv.Requests()), err)
			}
		})
	}
}

func TestRefusedFormsAreChangedOnceAndRemembered(t *testing.T) {
	t.Parallel()
	half := 0.5
	has := func(part, words string) func(modeltest.Request) string {
		return func(r modeltest.Request) string {
			if strings.Contains(string(r.Raw), part) {
				return words
			}
			return ""
		}
	}
	for name, c := range map[string]struct {
		change func(*model.Request)
		refuse func(modeltest.Request) string
	}{
		"summary":     {nil, has(`"summary"`, "Your organization must be verified to generate reasoning summaries.")},
		"encrypted":   {nil, has(`"include"`, "Encrypted content is not supported with this model.")},
		"reasoning":   {nil, has(`"reasoning":{`, "Unsupported parameter: 'reasoning' is not supported with this model.")},
		"effort":      {func(r *model.Request) { r.ReasoningEffort = "high" }, has(`"effort"`, "Unsupported parameter: 'reasoning.effort' is not supported with this model.")},
		"level":       {func(r *model.Request) { r.ReasoningEffort = "max" }, has(`"max"`, "Unsupported value: 'max' is not supported with the 'gpt' model. reasoning.effort: Supported values are: 'low', 'medium', 'high', and 'xhigh'.")},
		"temperature": {func(r *model.Request) { r.Temperature = &half }, has(`"temperature"`, "Unsupported parameter: 'temperature' is not supported with this model.")},
		"cache key":   {nil, has("prompt_cache_key", "Unknown parameter: 'prompt_cache_key'.")},
		"image":       {func(r *model.Request) { r.Messages[0].Images = []model.Image{{MIME: "image/png", Data: []byte{1}}} }, has("input_image", "This model does not support image inputs")},
	} {
		t.Run(name, func(t *testing.T) {
			srv := modeltest.New(t, modeltest.RefuseIf(c.refuse, modeltest.Text("ok")).Forever())
			client := newClient(t, srv.URL())
			req := ask("x")
			if c.change != nil {
				c.change(&req)
			}
			if resp, s, err := stream(t, client, req); err != nil || resp.Text != "ok" || len(s.notes) != 1 {
				t.Fatalf("%+v %q %v", resp, s.notes, err)
			}
			if _, s, err := stream(t, client, req); err != nil || len(s.notes) != 0 {
				t.Errorf("not remembered: %q %v", s.notes, err)
			}
		})
	}
}
