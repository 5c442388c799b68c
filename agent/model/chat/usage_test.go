package chat_test

import (
	"crypto/sha256"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/modeltest"
)

func TestUsageCountsWhatIsSentAndBilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		usage string
		want  model.Usage
	}{
		"reasoning on top, xAI":                                {`{"prompt_tokens":12,"completion_tokens":1,"total_tokens":303,"completion_tokens_details":{"reasoning_tokens":290}}`, model.Usage{Input: 12, Output: 291}},
		"reasoning on top, Gemini":                             {`{"prompt_tokens":12,"completion_tokens":1,"total_tokens":303}`, model.Usage{Input: 12, Output: 291}},
		"reasoning inside, OpenAI":                             {`{"prompt_tokens":12,"completion_tokens":300,"total_tokens":312,"completion_tokens_details":{"reasoning_tokens":290}}`, model.Usage{Input: 12, Output: 300}},
		"reasoning above the output, which the total includes": {`{"prompt_tokens":12,"completion_tokens":100,"total_tokens":112,"completion_tokens_details":{"reasoning_tokens":130},"cost":0.01}`, model.Usage{Input: 12, Output: 100, Cost: 0.01}},
		"a tier":                        {`{"prompt_tokens":10,"completion_tokens":5},"service_tier":"flex"`, model.Usage{Input: 10, Output: 5, Tier: "flex"}},
		"reasoning without a total":     {`{"prompt_tokens":12,"completion_tokens":1,"completion_tokens_details":{"reasoning_tokens":290}}`, model.Usage{Input: 12, Output: 291}},
		"input without the cached part": {`{"prompt_tokens":12,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":2800}}`, model.Usage{Input: 2812, Output: 5, Cached: 2800}},
		"cache writes":                  {`{"prompt_tokens":1000,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":600,"cache_write_tokens":300}}`, model.Usage{Input: 1000, Output: 5, Cached: 600, Written: 300}},
		"a price":                       {`{"prompt_tokens":10,"completion_tokens":5,"cost":0.0125}`, model.Usage{Input: 10, Output: 5, Cost: 0.0125}},
		"a price in parts":              {`{"prompt_tokens":10,"completion_tokens":5,"cost":{"input_cost":1,"total_cost":"2.5e-3"}}`, model.Usage{Input: 10, Output: 5, Cost: 0.0025}},
		"a price in ticks":              {`{"prompt_tokens":10,"completion_tokens":5,"cost_in_usd_ticks":37756000}`, model.Usage{Input: 10, Output: 5, Cost: 0.0037756}},
		"a price that cannot be":        {`{"prompt_tokens":10,"completion_tokens":5,"cost":-3}`, model.Usage{Input: 10, Output: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			resp, _ := mustStream(t, modeltest.Chunks(modeltest.TextChunk("x"), modeltest.FinishChunk("stop"), `{"choices":[],"usage":`+c.usage+`}`))
			if math.Abs(resp.Usage.Cost-c.want.Cost) < 1e-12 {
				resp.Usage.Cost = c.want.Cost
			}
			if resp.Usage != c.want {
				t.Errorf("%+v, want %+v", resp.Usage, c.want)
			}
		})
	}
}

func TestCostCountsFourKindsOfTokens(t *testing.T) {
	t.Parallel()
	info, _ := catalogue.Lookup("claude-sonnet-4-6", nil)
	got, known := info.Cost(model.Usage{Input: 4_000_000, Cached: 1_000_000, Written: 1_000_000, WrittenHour: 1_000_000, Output: 1_000_000})
	if want := 3 + 0.3 + 3.75 + 6 + 15; !known || math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
	if got, known := (catalogue.Info{}).Cost(model.Usage{Input: 1, Cost: 0.5}); !known || got != 0.5 {
		t.Errorf("a price that the provider names does not hold: %v %v", got, known)
	}
}

func TestTokensOfAFailedAttemptAreCounted(t *testing.T) {
	t.Parallel()
	failed := modeltest.Chunks(modeltest.TextChunk("x"), `{"choices":[{"delta":{},"finish_reason":"error"}],"usage":{"prompt_tokens":70,"completion_tokens":3}}`)
	srv := modeltest.New(t, failed, modeltest.Text("ok"))
	resp, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
	if err != nil || resp.Wasted != (model.Usage{Input: 70, Output: 3}) || resp.Usage != (model.Usage{Input: 10, Output: 5}) {
		t.Errorf("%+v %+v %v", resp.Usage, resp.Wasted, err)
	}
}

func TestARateLimitIsWaitedForAsItSays(t *testing.T) {
	t.Parallel()
	const inAMinute = "IN-A-MINUTE" // by the clock of the answer
	for name, c := range map[string]struct {
		header http.Header
		body   string
	}{
		"reset in a header":   {http.Header{"X-Ratelimit-Reset": {inAMinute}}, `{"error":{"code":429,"message":"Rate limit exceeded"}}`},
		"reset in metadata":   {nil, `{"error":{"code":429,"message":"Rate limit exceeded: free-models-per-min","metadata":{"headers":{"X-RateLimit-Limit":"20","X-RateLimit-Reset":"` + inAMinute + `"}}}}`},
		"words":               {nil, `{"error":{"message":"Rate limit reached on tokens per min (TPM). Please try again in 59.5s. Visit the page","code":"rate_limit_exceeded"}}`},
		"words with minutes":  {nil, `{"error":{"message":"Please try again in 1m0.2s."}}`},
		"words with seconds":  {nil, `{"error":{"message":"Retry after 60 seconds"}}`},
		"reset of the tokens": {http.Header{"X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"59.8s"}, "X-Ratelimit-Remaining-Requests": {"99"}, "X-Ratelimit-Reset-Requests": {"8m"}}, `{"error":{"message":"slow down"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			srv := modeltest.New(t, modeltest.Func(func(modeltest.Request) modeltest.Reply {
				reset := strconv.FormatInt(time.Now().Add(time.Minute).UnixMilli(), 10)
				header := c.header.Clone()
				for name, values := range header {
					if values[0] == inAMinute {
						header.Set(name, reset)
					}
				}
				return modeltest.Status(429, header, strings.ReplaceAll(c.body, inAMinute, reset))
			}))
			client := newClient(t, srv.URL(), func(p *provider.Config) { p.Limits.MaxWait = time.Second })
			_, _, err := stream(t, client, ask("x"))
			if e := classOf(t, err); !strings.Contains(e.Text, "asks to wait 1m") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestReasoningDetailsGoBackUnmodified(t *testing.T) {
	t.Parallel()
	details := []string{
		`{"type":"reasoning.text","text":"let me ","format":"anthropic-claude-v1","index":0}`,
		`{"type":"reasoning.text","text":"see","index":0}`,
		`{"type":"reasoning.text","signature":"c2ln+/=","index":0}`,
		`{"type":"reasoning.encrypted","data":"b3BhcXVl","id":"tool_read_1","index":1}`,
	}
	var chunks []string
	for _, d := range details {
		chunks = append(chunks, delta(`{"reasoning_details":[`+d+`]}`))
	}
	id := "tool_read_" + strings.Repeat("a", 40) // longer than some providers take, and named by a detail
	chunks = append(chunks, callDelta(`{"index":0,"id":"`+id+`","function":{"name":"read","arguments":"{}"}}`), modeltest.FinishChunk("tool_calls"))
	const want = `"reasoning_details":[{"format":"anthropic-claude-v1","index":0,"signature":"c2ln+/=","text":"let me see","type":"reasoning.text"},` +
		`{"type":"reasoning.encrypted","data":"b3BhcXVl","id":"tool_read_1","index":1}]`
	srv := modeltest.New(t, modeltest.Chunks(chunks...), modeltest.Text("ok").Forever())
	client := newClient(t, srv.URL())
	req := ask("x")
	resp, _, err := stream(t, client, req)
	if err != nil || resp.Reasoning != "let me see" {
		t.Fatalf("%+v %v", resp, err)
	}
	req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, Calls: resp.Calls, Opaque: resp.Opaque}, model.Message{Role: model.RoleTool, CallID: id, Text: "a"})
	if _, _, err := stream(t, client, req); err != nil {
		t.Fatal(err)
	}
	if raw := string(srv.Requests()[1].Raw); !strings.Contains(raw, want) || !strings.Contains(raw, id) {
		t.Errorf("%s", raw)
	}
	req.Model = "another-model"
	if _, _, err := stream(t, client, req); err != nil {
		t.Fatal(err)
	}
	if raw := string(srv.Requests()[2].Raw); strings.Contains(raw, "reasoning_details") {
		t.Errorf("another model gets %s", raw)
	}
}

func TestACallThatSaysNothingIsNone(t *testing.T) {
	t.Parallel()
	for name, chunk := range map[string]string{
		"function_call": delta(`{"content":"hi","function_call":{"name":"","arguments":""}}`),
		"tool_calls":    delta(`{"content":"hi","tool_calls":[{"index":0,"type":"function","function":{"name":"","arguments":""}}]}`),
		"custom":        delta(`{"content":"hi","tool_calls":[{"index":0,"id":"c","type":"custom","custom":{"name":"","input":""}}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			resp, _ := mustStream(t, modeltest.Chunks(chunk, modeltest.FinishChunk("tool_calls")))
			if resp.Text != "hi" || len(resp.Calls) != 0 || resp.Finish != "stop" {
				t.Errorf("%+v", resp)
			}
		})
	}
}

func TestFinishReasonsOfManyNames(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"sensitive": "content_filter", "content_filter: SAFETY": "content_filter", "repetition_truncation": "repetition_truncation", "max_output_tokens": "length",
	} {
		if resp, _ := mustStream(t, modeltest.Text("x").Finish(from)); resp.Finish != want {
			t.Errorf("%s became %s, want %s", from, resp.Finish, want)
		}
	}
}

func TestModelsThatWantTheirThinkingBackGetItUnasked(t *testing.T) {
	t.Parallel()
	for id, back := range map[string]bool{"glm-5": true, "MiniMax-M2.5": true, "moonshotai/kimi-k2-thinking": true, "deepseek-chat": true, "gpt-5": false, "some-model": false} {
		srv := modeltest.New(t, modeltest.Text("ok"))
		req := ask("x")
		req.Model = id
		req.Messages = append(req.Messages,
			model.Message{Role: model.RoleAssistant, Reasoning: "hm", Calls: []model.Call{{ID: "a", Name: "read", Arguments: "{}"}}},
			model.Message{Role: model.RoleTool, CallID: "a", Text: "x"},
			model.Message{Role: model.RoleAssistant, Calls: []model.Call{{ID: "b", Name: "read", Arguments: "{}"}}},
			model.Message{Role: model.RoleTool, CallID: "b", Text: "x"})
		if _, _, err := stream(t, newClient(t, srv.URL()), req); err != nil {
			t.Fatal(err)
		}
		raw := string(srv.Requests()[0].Raw)
		if got := strings.Count(raw, "reasoning_content"); got != map[bool]int{true: 1, false: 0}[back] {
			t.Errorf("%s: %s", id, raw)
		}
	}
}

func TestARefusedPictureIsToldFromAModelWithoutEyes(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"Could not process image", "Unable to process input image. Please retry", "messages.0.content.1.image.source.base64.data: invalid image", "You uploaded an unsupported image. Please make sure your image is a valid image"} {
		srv := modeltest.New(t, modeltest.Error(400, "invalid_request_error", words))
		req := ask("x")
		req.Messages[0].Images = []model.Image{{MIME: "image/png", Data: []byte("junk")}}
		_, _, err := stream(t, newClient(t, srv.URL()), req)
		if e := classOf(t, err); e.Class != model.ClassImage || e.Image != sha256.Sum256([]byte("junk")) {
			t.Errorf("%s: %v", words, err)
		}
	}
}
