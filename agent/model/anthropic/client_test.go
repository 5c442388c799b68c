package anthropic_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/anthropic"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/leaks"
	"jcode/internal/testkit/modeltest"
)

func TestMain(m *testing.M) { leaks.Main(m) }

const opus = "claude-opus-5-5"

func newClient(t testing.TB, url string, change ...func(*provider.Config)) *anthropic.Client {
	t.Helper()
	cfg := provider.Config{
		Name: "anthropic", BaseURL: url, Key: "sk-very-secret-key", KeyEnv: "TEST_KEY", Protocol: provider.Messages,
		Limits: provider.Limits{Idle: time.Minute, Attempts: 3, Backoff: time.Millisecond, MaxBackoff: 2 * time.Millisecond},
	}
	for _, c := range change {
		c(&cfg)
	}
	c, err := anthropic.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

type seen struct {
	text, thought strings.Builder
	notes         []string
	retries       int
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
	case model.RetryEvent:
		s.retries++
	}
}

func ask(text string) model.Request {
	return model.Request{Model: opus, System: "You help.", Messages: []model.Message{{Role: model.RoleUser, Text: text}}}
}

func stream(t testing.TB, c model.Client, req model.Request) (model.Response, *seen, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s := &seen{}
	resp, err := c.Stream(ctx, req, s.emit)
	return resp, s, err
}

// answered appends an answer and the results of its calls to a request.
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

func TestThinkingGoesBackWithItsSignatureInItsPlace(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t,
		modeltest.Text("I look.").WithReasoning("let me ", "see").WithCalls(modeltest.Call{Name: "read", Args: `{"path":"a"}`}, modeltest.Call{Name: "read", Args: `{"path":"b"}`}).ArgPieces(3),
		modeltest.Text("done").WithReasoning("so"),
		modeltest.Text("bye"))
	srv.BindThinking()
	c := newClient(t, srv.URL())
	req := ask("go")
	req.Tools = []model.Tool{readTool("read")}
	resp, s, err := stream(t, c, req)
	if err != nil || resp.Text != "I look." || resp.Reasoning != "let me see" || len(resp.Calls) != 2 || resp.Calls[1].Arguments != `{"path":"b"}` || resp.Finish != "tool_calls" {
		t.Fatalf("%+v %v", resp, err)
	}
	if s.thought.String() != "let me see" || s.text.String() != "I look." {
		t.Errorf("shown: %q %q", s.thought.String(), s.text.String())
	}
	req = answered(req, resp, "A", "")
	if resp, _, err = stream(t, c, req); err != nil || resp.Text != "done" {
		t.Fatalf("%+v %v", resp, err)
	}
	req = answered(req, resp)
	req.Messages = append(req.Messages, model.Message{Role: model.RoleUser, Text: "thanks"})
	if _, _, err = stream(t, c, req); err != nil {
		t.Fatal(err)
	}
	if raw := string(srv.Requests()[2].Raw); strings.Count(raw, `"type":"thinking"`) != 2 {
		t.Errorf("%s", raw)
	}
}

func TestAnotherModelGetsNoThinking(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Calls(modeltest.Call{Name: "read", Args: `{}`}).WithReasoning("hm"), modeltest.Text("ok").Forever())
	c := newClient(t, srv.URL())
	req := ask("go")
	req.Tools = []model.Tool{readTool("read")}
	resp, _, err := stream(t, c, req)
	if err != nil {
		t.Fatal(err)
	}
	req = answered(req, resp, "A")
	for _, id := range []string{"claude-sonnet-4-5", "claude-haiku-4-5-20251001", "claude-opus-4-6"} {
		req.Model = id
		if _, _, err := stream(t, c, req); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, r := range srv.Requests()[1:] {
		if strings.Contains(string(r.Raw), `"type":"thinking"`) {
			t.Errorf("%s", r.Raw)
		}
	}
}

// A session of many rounds, with tools that come and go in its middle.
func TestThePromptCacheIsReadAndNothingIsWrittenTwice(t *testing.T) {
	t.Parallel()
	const rounds = 50
	srv := modeltest.New(t, modeltest.Calls(modeltest.Call{Name: "read", Args: `{"path":"some/file.go"}`}, modeltest.Call{Name: "read", Args: `{"path":"other.go"}`}).WithReasoning("thinking about it").Times(rounds), modeltest.Text("ok"))
	srv.BindThinking()
	c := newClient(t, srv.URL())
	req := ask("go")
	req.System = strings.Repeat("Be helpful. ", 500)
	for i := range 20 {
		req.Tools = append(req.Tools, readTool(fmt.Sprintf("tool_%d", i)))
	}
	for i := range rounds {
		resp, s, err := stream(t, c, req)
		if err != nil || len(s.notes) > 0 {
			t.Fatalf("round %d: %v %q", i, err, s.notes)
		}
		req = answered(req, resp, strings.Repeat("A line of a file.\n", 20), strings.Repeat("Another line.\n", 10))
		switch i {
		case 20: // a server is connected
			added := []model.Tool{readTool("mcp__s__a"), readTool("mcp__s__b")}
			req.Tools = append(req.Tools, added...)
			req.Messages = append(req.Messages, model.Message{Role: model.RoleUser, Text: "[jcode] Tools now available: mcp__s__a, mcp__s__b.", ToolsAdded: added})
		case 30: // and a Lua tool is written
			added := []model.Tool{readTool("hello")}
			req.Tools = append(req.Tools, added...)
			req.Messages = append(req.Messages, model.Message{Role: model.RoleUser, Text: "[jcode] Tools now available: hello.", ToolsAdded: added})
		case 40:
			req.Messages = append(req.Messages, model.Message{Role: model.RoleUser, Text: "[jcode] No longer available: mcp__s__a.", ToolsRemoved: []string{"mcp__s__a"}})
		}
	}
	if _, _, err := stream(t, c, req); err != nil {
		t.Fatal(err)
	}
	got := srv.Cache()
	share := float64(got.Read) / float64(got.Read+got.Written+got.Fresh)
	if share < 0.95 || got.Again != 0 {
		t.Errorf("%.1f%% read from the cache, %+v", share*100, got)
	}
	t.Logf("%.1f%% of the input was read from the cache: %+v", share*100, got)
}

func TestThinkingThatBelongsToAnotherBeginningIsDropped(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Calls(modeltest.Call{Name: "read", Args: `{}`}).WithReasoning("hm"), modeltest.Text("ok").Forever())
	srv.BindThinking()
	c := newClient(t, srv.URL())
	req := ask("go")
	req.Tools = []model.Tool{readTool("read")}
	resp, _, err := stream(t, c, req)
	if err != nil {
		t.Fatal(err)
	}
	req = answered(req, resp, "A")
	thought := resp.Opaque[0]
	if c.Lost(req.Model, thought) {
		t.Error("it is lost before anything changed")
	}
	req.System = "You help otherwise."
	for i, notes := range []int{1, 0} { // said once
		if resp, s, err := stream(t, c, req); err != nil || resp.Text != "ok" || len(s.notes) != notes {
			t.Errorf("%d: %+v %q %v", i, resp, s.notes, err)
		}
	}
	if n := len(srv.Requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
	newer := thought
	newer.Raw += " "
	if !c.Lost(req.Model, thought) || c.Lost(req.Model, newer) || c.Lost("claude-haiku-4-5-20251001", thought) {
		t.Error("what does not reach the model is not what was sent when it was refused")
	}
}

func TestStopReasons(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "refusal": "content_filter", "pause_turn": model.FinishPause} {
		srv := modeltest.New(t, modeltest.Text("x").Finish(reason))
		if resp, _, err := stream(t, newClient(t, srv.URL()), ask("x")); err != nil || resp.Finish != want {
			t.Errorf("%s: %q %v", reason, resp.Finish, err)
		}
	}
	srv := modeltest.New(t, modeltest.Reply{}.Finish("refusal"))
	if resp, _, err := stream(t, newClient(t, srv.URL()), ask("x")); err != nil || resp.Finish != "content_filter" || resp.Text != "" {
		t.Errorf("a refusal without a block: %+v %v", resp, err)
	}
	srv = modeltest.New(t, modeltest.Text("x").Finish("model_context_window_exceeded"))
	_, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
	var bad *model.Error
	if !errors.As(err, &bad) || bad.Class != model.ClassOverflow {
		t.Errorf("%v", err)
	}
}

func TestErrorsAreJudged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply modeltest.Reply
		class model.ErrorClass
		tries int
	}{
		"529":                  {modeltest.Error(529, "overloaded_error", "Overloaded"), model.ClassServer, 3},
		"413":                  {modeltest.Error(413, "request_too_large", "Request exceeds the maximum size"), model.ClassOverflow, 1},
		"401":                  {modeltest.Error(401, "authentication_error", "invalid x-api-key sk-very-secret-key"), model.ClassAuth, 1},
		"credit":               {modeltest.Error(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."), model.ClassCredit, 1},
		"too long":             {modeltest.Error(400, "invalid_request_error", "prompt is too long: 1000001 tokens > 1000000 maximum"), model.ClassOverflow, 1},
		"overloaded in stream": {modeltest.Chunks(`{"type":"message_start","message":{"model":"m","usage":{}}}`, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), model.ClassServer, 3},
		"refused in stream":    {modeltest.Chunks(`{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`), model.ClassRequest, 1},
		"too large in stream":  {modeltest.Chunks(`{"type":"error","error":{"type":"request_too_large","message":"no"}}`), model.ClassOverflow, 1},
		"cut":                  {modeltest.Text("x").CutAfter(4), model.ClassNetwork, 3},
		"ended early":          {modeltest.Text("x").EndAfter(4), model.ClassNetwork, 3},
		"wrong address":        {modeltest.Status(404, nil, `{"detail":"Not Found"}`), model.ClassRequest, 1},
	} {
		t.Run(name, func(t *testing.T) {
			srv := modeltest.New(t, c.reply.Forever())
			_, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
			var bad *model.Error
			if !errors.As(err, &bad) || bad.Class != c.class || len(srv.Requests()) != c.tries || strings.Contains(bad.Text, "secret") {
				t.Errorf("%d requests, %v", len(srv.Requests()), err)
			}
			if name == "wrong address" && !strings.Contains(bad.Text, "providers.anthropic.protocol") {
				t.Errorf("%v", bad)
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
		"adaptive":    {func(r *model.Request) { r.Model = "claude-opus-4-8" }, has(`"adaptive"`, "adaptive thinking is not supported on this model")},
		"display":     {nil, has(`"display"`, "thinking.adaptive.display: Extra inputs are not permitted")},
		"cache":       {nil, has("cache_control", "system.0.cache_control: Extra inputs are not permitted")},
		"effort":      {func(r *model.Request) { r.ReasoningEffort = "high" }, has("output_config", "output_config: Extra inputs are not permitted")},
		"level":       {func(r *model.Request) { r.ReasoningEffort = "xhigh" }, has("xhigh", "This model does not support effort level 'xhigh'. Supported levels: low, medium, high.")},
		"eager":       {func(r *model.Request) { r.Tools = []model.Tool{readTool("read")} }, has("eager", "tools.0.custom.eager_input_streaming: Extra inputs are not permitted")},
		"max tokens":  {nil, has(`"max_tokens":64000`, "max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens for this model")},
		"room":        {nil, has(`"max_tokens":64000`, "input length and `max_tokens` exceed context limit: 180000 + 64000 > 200000, decrease input length or `max_tokens` and try again")},
		"temperature": {func(r *model.Request) { r.Model, r.Temperature, r.ReasoningEffort = "claude-opus-4-8", &half, "none" }, has(`"temperature"`, "temperature is deprecated for this model")},
		"image":       {func(r *model.Request) { r.Messages[0].Images = []model.Image{{MIME: "image/png", Data: []byte{1}}} }, has(`"image"`, "this model does not support images")},
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

func TestUsageOfEveryForm(t *testing.T) {
	t.Parallel()
	start := func(u string) string {
		return `{"type":"message_start","message":{"model":"m","usage":` + u + `}}`
	}
	end := func(u string) string {
		return `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":` + u + `}`
	}
	for name, c := range map[string]struct {
		chunks []string
		want   model.Usage
		wasted model.Usage
	}{
		"four kinds": {[]string{
			start(`{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":50,"cache_creation":{"ephemeral_5m_input_tokens":20,"ephemeral_1h_input_tokens":30},"output_tokens":1}`), end(`{"output_tokens":7}`),
		}, model.Usage{Input: 160, Output: 7, Cached: 100, Written: 20, WrittenHour: 30}, model.Usage{}},
		"corrected at the end": {[]string{start(`{"input_tokens":0,"output_tokens":0}`), end(`{"input_tokens":25,"cache_read_input_tokens":5,"output_tokens":7}`)}, model.Usage{Input: 30, Output: 7, Cached: 5}, model.Usage{}},
		"iterations": {[]string{
			start(`{"input_tokens":1}`), end(`{"input_tokens":40,"output_tokens":7,"iterations":[{"type":"compaction","input_tokens":1000,"output_tokens":50},{"type":"message","input_tokens":40,"output_tokens":7}]}`),
		}, model.Usage{Input: 40, Output: 7}, model.Usage{Input: 1000, Output: 50}},
		"the prompt is read again for each search": {[]string{
			start(`{"input_tokens":1}`), end(`{"input_tokens":900,"output_tokens":7,"server_tool_use":{"web_search_requests":2}}`),
		}, model.Usage{Input: 900, Output: 7, Searches: 2, Summed: true}, model.Usage{}},
		"and for each page fetched": {[]string{
			start(`{"input_tokens":1}`), end(`{"input_tokens":900,"output_tokens":7,"server_tool_use":{"web_fetch_requests":1}}`),
		}, model.Usage{Input: 900, Output: 7, Summed: true}, model.Usage{}},
		"searches counted apart by iterations": {[]string{
			start(`{"input_tokens":1}`), end(`{"input_tokens":40,"output_tokens":7,"server_tool_use":{"web_search_requests":1},"iterations":[{"type":"message","input_tokens":300,"output_tokens":5},{"type":"message","input_tokens":40,"output_tokens":7}]}`),
		}, model.Usage{Input: 40, Output: 7, Searches: 1}, model.Usage{Input: 300, Output: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := modeltest.New(t, modeltest.Chunks(append(c.chunks, `{"type":"message_stop"}`)...))
			resp, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
			if err != nil || resp.Usage != c.want || resp.Wasted != c.wasted {
				t.Errorf("%+v, wasted %+v, %v", resp.Usage, resp.Wasted, err)
			}
		})
	}
}

func TestBlocksOfTheMakersOwnToolsComeBackAsTheyCame(t *testing.T) {
	t.Parallel()
	result := `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"A page","url":"https://example.com/a","encrypted_content":"b3BhcXVl"}]}`
	srv := modeltest.New(t, modeltest.Chunks(
		`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I search."}}`, `{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"query\":"}}`, `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"go\"}"}}`, `{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":`+result+`}`, `{"type":"content_block_stop","index":2}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"text","text":""}}`, `{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"Found."}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://example.com/a"}}}`, `{"type":"content_block_stop","index":3}`,
		`{"type":"something_new","x":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`, `{"type":"message_stop"}`), modeltest.Text("ok"))
	c := newClient(t, srv.URL())
	req := ask("x")
	resp, s, err := stream(t, c, req)
	if err != nil || resp.Text != "I search.Found." {
		t.Fatalf("%+v %v", resp, err)
	}
	if said := strings.Join(s.notes, "\n"); !strings.Contains(said, "web_search ran at the provider: go") || !strings.Contains(said, "https://example.com/a") {
		t.Errorf("%q", said)
	}
	req = answered(req, resp)
	req.Messages = append(req.Messages, model.Message{Role: model.RoleUser, Text: "and?"})
	if _, _, err := stream(t, c, req); err != nil {
		t.Fatal(err)
	}
	want := `{"type":"text","text":"I search."},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"go"}},` + result +
		`,{"type":"text","text":"Found.","citations":[{"type":"web_search_result_location","url":"https://example.com/a"}]}`
	if raw := string(srv.Requests()[1].Raw); !strings.Contains(raw, want) {
		t.Errorf("%s", raw)
	}
}

func TestABearerTokenTakesTheKeysPlace(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Text("ok"))
	c := newClient(t, srv.URL(), func(p *provider.Config) { p.Key, p.Token = "", "tok-123456" })
	if _, _, err := stream(t, c, ask("x")); err != nil {
		t.Fatal(err)
	}
	if h := srv.Requests()[0].Header; h.Get("Authorization") != "Bearer tok-123456" || h.Get("X-Api-Key") != "" {
		t.Errorf("%v", h)
	}
}
