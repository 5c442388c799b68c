package chat_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/agent/model"
	"jcode/agent/model/chat"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/modeltest"
)

// A wait is at least as long as Retry-After, and at least as long as our own backoff.
func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	header := func(v string) http.Header { return http.Header{"Retry-After": {v}} }
	t.Run("seconds, three times", func(t *testing.T) {
		srv := modeltest.New(t, modeltest.Status(429, header("0.05"), "slow down").Times(3), modeltest.Text("ok"))
		resp, s, err := stream(t, newClient(t, srv.URL()), ask("x"))
		if err != nil || resp.Text != "ok" || len(s.waits) != 3 {
			t.Fatalf("%+v %v %v", resp, s.waits, err)
		}
		reqs := srv.Requests()
		for i := 1; i < len(reqs); i++ {
			if gap := reqs[i].Time.Sub(reqs[i-1].Time); gap < 50*time.Millisecond {
				t.Errorf("request %d came after %v", i, gap)
			}
		}
	})
	t.Run("less than our own wait", func(t *testing.T) {
		srv := modeltest.New(t, modeltest.Status(429, header("0.001"), "slow down"), modeltest.Text("ok"))
		_, s, err := stream(t, newClient(t, srv.URL(), func(p *provider.Config) {
			p.Limits.Backoff, p.Limits.MaxBackoff = 50*time.Millisecond, time.Second
		}), ask("x"))
		if err != nil || len(s.waits) != 1 || s.waits[0] < 50*time.Millisecond {
			t.Errorf("waits %v, %v", s.waits, err)
		}
	})
	cases := map[string]struct {
		header http.Header
		least  time.Duration
	}{
		"zero": {header("0"), time.Millisecond}, "absent": {nil, time.Millisecond}, "rubbish": {header("soon"), time.Millisecond}, "negative": {header("-5"), time.Millisecond},
		"date in the past": {header("Mon, 02 Jan 2006 15:04:05 GMT"), time.Millisecond},
		"milliseconds":     {http.Header{"Retry-After-Ms": {"70"}}, 70 * time.Millisecond},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			srv := modeltest.New(t, modeltest.Status(503, c.header, ""), modeltest.Text("ok"))
			_, s, err := stream(t, newClient(t, srv.URL()), ask("x"))
			if err != nil || len(s.waits) != 1 || s.waits[0] < c.least {
				t.Errorf("waits %v %v", s.waits, err)
			}
		})
	}
	t.Run("date", func(t *testing.T) {
		at := time.Now().Add(8 * time.Minute).UTC().Format(http.TimeFormat)
		srv := modeltest.New(t, modeltest.Status(503, header(at), ""))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := &seen{}
		_, err := newClient(t, srv.URL()).Stream(ctx, ask("x"), func(e model.Event) {
			if s.emit(e); len(s.waits) > 0 { // the test does not wait for eight minutes
				cancel()
			}
		})
		if err == nil || len(s.waits) != 1 || s.waits[0] < time.Minute {
			t.Errorf("waits %v %v", s.waits, err)
		}
	})
	for _, v := range []string{"86400", "1e300", time.Now().Add(48 * time.Hour).UTC().Format(http.TimeFormat)} {
		t.Run("huge "+v, func(t *testing.T) {
			srv := modeltest.New(t, modeltest.Status(429, header(v), ""))
			_, s, err := stream(t, newClient(t, srv.URL()), ask("x"))
			if e := classOf(t, err); e.Class != model.ClassServer || len(s.waits) != 0 || !strings.Contains(e.Text, "too long") {
				t.Errorf("%v %v", err, s.waits)
			}
		})
	}
}

// The status takes precedence over the words.
func TestStatusDecidesTheClass(t *testing.T) {
	t.Parallel()
	body := func(typ, code, msg string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"code":%q}}`, msg, typ, code)
	}
	cases := map[string]struct {
		reply modeltest.Reply
		class model.ErrorClass
		tries int
		words string
	}{
		"429 that speaks of tokens":  {modeltest.Error(429, "tokens", "Rate limit reached: too many tokens, maximum context length"), model.ClassServer, 4, "too many tokens"},
		"402":                        {modeltest.Error(402, "", "insufficient credits"), model.ClassCredit, 1, "insufficient credits"},
		"429 without quota":          {modeltest.Status(429, nil, body("insufficient_quota", "insufficient_quota", "You exceeded your current quota")), model.ClassCredit, 1, "quota"},
		"401":                        {modeltest.Error(401, "", "Incorrect API key provided: sk-very-secret-key"), model.ClassAuth, 1, "***"},
		"403":                        {modeltest.Error(403, "", "country not supported"), model.ClassAuth, 1, "country"},
		"404":                        {modeltest.Status(404, nil, `{"error":"model 'x' not found"}`), model.ClassRequest, 1, "not found"},
		"500 for ever":               {modeltest.Status(500, nil, "oops"), model.ClassServer, 4, "gave up after 4"},
		"529 without a word":         {modeltest.Status(529, nil, ""), model.ClassServer, 4, "overloaded"},
		"522 without a word":         {modeltest.Status(522, nil, ""), model.ClassServer, 4, "proxy"},
		"599 without a word":         {modeltest.Status(599, nil, ""), model.ClassServer, 4, "without a message"},
		"529":                        {modeltest.Error(529, "overloaded_error", "Overloaded"), model.ClassServer, 4, "Overloaded"},
		"501":                        {modeltest.Status(501, nil, ""), model.ClassRequest, 1, "Not Implemented"},
		"413":                        {modeltest.Status(413, nil, ""), model.ClassOverflow, 1, ""},
		"400 overflow":               {modeltest.ContextOverflow(), model.ClassOverflow, 1, "maximum context length"},
		"400 overflow, llama.cpp":    {modeltest.Status(400, nil, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`), model.ClassOverflow, 1, ""},
		"400 overflow, anthropic":    {modeltest.Status(400, nil, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200001 tokens > 200000 maximum"}}`), model.ClassOverflow, 1, ""},
		"400 other":                  {modeltest.Error(400, "", "bad thing"), model.ClassRequest, 1, "bad thing"},
		"422 with detail list":       {modeltest.Status(422, nil, `{"detail":[{"loc":["body","x"],"msg":"field required"}]}`), model.ClassRequest, 1, "field required"},
		"400 overflow, together":     {modeltest.Error(400, "invalid_request_error", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193."), model.ClassOverflow, 1, ""},
		"400 overflow, moonshot":     {modeltest.Error(400, "invalid_request_error", "Invalid request: Your request exceeded model token limit: 262144"), model.ClassOverflow, 1, ""},
		"400 overflow, copilot":      {modeltest.Error(400, "", "prompt token count of 70000 exceeds the limit of 64000"), model.ClassOverflow, 1, ""},
		"400 without credit":         {modeltest.Error(400, "invalid_request_error", "Your credit balance is too low to access the API."), model.ClassCredit, 1, "credit"},
		"400 for an unreadable call": {modeltest.Status(400, nil, body("invalid_request_error", "tool_use_failed", "Failed to call a function.")), model.ClassRequest, 3, "Failed to call"},
		"mistral detail":             {modeltest.Status(422, nil, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","messages",2,"user","name"],"msg":"Extra inputs are not permitted","input":"x"}]},"type":"invalid_request_error"}`), model.ClassRequest, 1, "messages.2.user.name: Extra inputs"},
		"gemini list":                {modeltest.Status(400, nil, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]`), model.ClassAuth, 1, "API key not valid"},
		"html body":                  {modeltest.Status(502, nil, "<html><head><title>502 Bad  Gateway</title></head></html>"), model.ClassServer, 4, "502 Bad Gateway"},
		"web page with 200":          {modeltest.Status(200, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, "<!doctype html><title>Welcome</title>"), model.ClassRequest, 1, "base URL"},
		"redirect":                   {modeltest.Status(301, http.Header{"Location": {"https://example.com/v1"}}, ""), model.ClassRequest, 1, "https://example.com/v1"},
		"error in the stream":        {modeltest.Chunks(modeltest.TextChunk("x"), `{"error":{"message":"Overloaded","type":"overloaded_error"}}`), model.ClassServer, 4, "Overloaded"},
		"error in a choice":          {modeltest.Chunks(`{"choices":[{"delta":{},"error":{"code":502,"message":"upstream"},"finish_reason":"error"}]}`), model.ClassServer, 4, "upstream"},
		"quota in the stream":        {modeltest.Chunks(`{"error":{"message":"no","code":"insufficient_quota"}}`), model.ClassCredit, 1, "no"},
		"overflow in the stream":     {modeltest.Chunks(`{"error":{"message":"too long","code":"context_length_exceeded","type":"invalid_request_error"}}`), model.ClassOverflow, 1, ""},
		"auth in the stream":         {modeltest.Chunks(`{"error":{"code":401,"message":"no"}}`), model.ClassAuth, 1, "no"},
		"error as text":              {modeltest.Raw("data: {\"error\":\"cuda out of memory\"}\n\n"), model.ClassServer, 4, "cuda out of memory"},
		"error event":                {modeltest.Raw("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Over\"}}\n\n"), model.ClassServer, 4, "Over"},
		"rubbish":                    {modeltest.Raw("Internal Server Error\n"), model.ClassNetwork, 4, "Internal Server Error"},
		"plain JSON, no answer":      {modeltest.Status(200, nil, `{"object":"x"}`), model.ClassNetwork, 4, "could not read the answer"},
		"empty body":                 {modeltest.Status(200, http.Header{"Content-Type": {"text/event-stream"}}, ""), model.ClassNetwork, 4, "cut off"},
		"error line after text":      {modeltest.Raw("data: " + modeltest.TextChunk("x") + "\n\nerror: {\"code\":500,\"message\":\"slot broke\",\"type\":\"server_error\"}\n\n"), model.ClassServer, 4, "slot broke"},
		"status as a number":         {modeltest.Chunks(`{"error":{"status":401,"message":"no"}}`), model.ClassAuth, 1, "no"},
		"no resources":               {modeltest.Text("x").Finish("insufficient_system_resource"), model.ClassServer, 4, "insufficient_system_resource"},
		"network error as reason":    {modeltest.Text("x").Finish("network_error"), model.ClassServer, 4, "network_error"},
		"aborted":                    {modeltest.Text("x").Finish("abort"), model.ClassServer, 4, "abort"},
		"malformed call":             {modeltest.Text("x").Finish("malformed_function_call"), model.ClassServer, 4, "malformed_function_call"},
		"credit, zhipu":              {modeltest.Status(429, nil, body("", "1113", "Insufficient balance or no resource package.")), model.ClassCredit, 1, "credit"},
		"credit, zhipu, a number":    {modeltest.Status(429, nil, `{"error":{"code":1113,"message":"please recharge"}}`), model.ClassCredit, 1, "credit"},
		"credit, moonshot":           {modeltest.Status(429, nil, body("exceeded_current_quota_error", "", "You exceeded your current quota")), model.ClassCredit, 1, "credit"},
		"credit, xai":                {modeltest.Status(403, nil, `{"code":"The caller does not have permission","error":"Your team has either used all available credits or reached its monthly spending limit."}`), model.ClassCredit, 1, "credit"},
		"credit, alibaba":            {modeltest.Status(400, nil, body("Arrearage", "Arrearage", "Access denied, please make sure your account is in good standing.")), model.ClassCredit, 1, "credit"},
		"overflow, anthropic sum":    {modeltest.Error(400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"), model.ClassOverflow, 1, ""},
		"overflow, alibaba":          {modeltest.Error(400, "", "Range of input length should be [1, 129024]"), model.ClassOverflow, 1, ""},
		"overflow, sglang":           {modeltest.Error(400, "", "Input length (40000 tokens) exceeds the maximum allowed length (32768 tokens)."), model.ClassOverflow, 1, ""},
		"overflow, code":             {modeltest.Status(400, nil, body("", "too_many_prompt_tokens", "no")), model.ClassOverflow, 1, ""},
		"overflow, exceeded":         {modeltest.Error(400, "", "Input Tokens Exceeded"), model.ClassOverflow, 1, ""},
		"key, xai":                   {modeltest.Status(400, nil, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: sk-***. You can obtain an API key from the console."}`), model.ClassAuth, 1, "TEST_KEY"},
		"safety":                     {modeltest.Status(403, nil, `{"code":"permission","error":"Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"}`), model.ClassRequest, 1, "safety check"},
		"no tools":                   {modeltest.Error(404, "", "No endpoints found that support tool use."), model.ClassRequest, 1, "choose a model that takes them"},
		"decommissioned":             {modeltest.Status(400, nil, body("invalid_request_error", "model_decommissioned", "The model has been decommissioned.")), model.ClassRequest, 1, "choose another"},
		"404 without a model":        {modeltest.Status(404, nil, `{"detail":"Not Found"}`), model.ClassRequest, 1, `"test-model"`},
		"text body of 400":           {modeltest.Status(400, nil, "tool \x1b[31mtrouble"), model.ClassRequest, 1, "tool trouble"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			srv := modeltest.New(t, c.reply.Forever())
			_, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
			e := classOf(t, err)
			if e.Class != c.class || len(srv.Requests()) != c.tries || !strings.Contains(e.Text, c.words) {
				t.Errorf("class %s after %d requests: %v", e.Class, len(srv.Requests()), e)
			}
			if strings.Contains(e.Error(), "secret") || strings.ContainsAny(e.Error(), "\x1b\n") {
				t.Errorf("unfit to be shown: %q", e.Error())
			}
		})
	}
}

// Google puts the wait in the body.
func TestDelayInTheBodyIsHonoured(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Status(429, nil, `[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.07s"}]}}]`), modeltest.Text("ok"))
	_, s, err := stream(t, newClient(t, srv.URL()), ask("x"))
	if err != nil || len(s.waits) != 1 || s.waits[0] < 70*time.Millisecond {
		t.Errorf("waits %v %v", s.waits, err)
	}
}

// The window that a refusal names takes precedence over any table.
func TestOverflowNamesTheWindow(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]int{
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.":                                   8192,
		"prompt is too long: 208310 tokens > 200000 maximum":                                                                                    200000,
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).":                                               1048576,
		"the request exceeds the available context size (4096 tokens), try increasing it":                                                       4096,
		"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length":                                32768,
		"This model's maximum prompt length is 131,072 but the request contains 150,000 tokens.":                                                131072,
		"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens": 4096,
		"prompt token count of 70000 exceeds the limit of 64000":                                                                                64000,
		"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again":      200000,
		"Range of input length should be [1, 129024]":                                                                                           129024,
		"Input length (40000 tokens) exceeds the maximum allowed input length is 32768 tokens.":                                                 32768,
		"input is too long for the requested model":                                                                                             0,
	} {
		srv := modeltest.New(t, modeltest.Error(400, "invalid_request_error", words))
		_, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
		if e := classOf(t, err); e.Class != model.ClassOverflow || e.Window != want {
			t.Errorf("%q: class %s, window %d, want %d", words, e.Class, e.Window, want)
		}
	}
	srv := modeltest.New(t, modeltest.Status(400, nil, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`))
	_, _, err := stream(t, newClient(t, srv.URL()), ask("x"))
	if e := classOf(t, err); e.Window != 4096 {
		t.Errorf("window %d", e.Window)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/v1"
	l.Close()
	_, s, err := stream(t, newClient(t, url), ask("x"))
	if e := classOf(t, err); e.Class != model.ClassNetwork || !strings.Contains(e.Text, url) || len(s.waits) != quick.Attempts-1 {
		t.Errorf("%v %v", err, s.waits)
	}
}

// Each refusal leads to one downgrade, which the client remembers.
func TestRefusedFieldsAreLeftOutFromThenOn(t *testing.T) {
	t.Parallel()
	zero, half := 0.0, 0.5
	withTool := func(r *model.Request) {
		r.Tools = []model.Tool{{Name: "read", Parameters: []byte(`{"type":"object","properties":{}}`)}}
	}
	withReference := func(r *model.Request) {
		r.Tools = []model.Tool{{Name: "read", Parameters: []byte(`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string","format":"uri"}}}`)}}
	}
	refusing := func(part, msg string) func(modeltest.Request) string {
		return func(r modeltest.Request) string {
			if strings.Contains(string(r.Raw), part) {
				return msg
			}
			return ""
		}
	}
	withCall := func(r *model.Request) {
		r.Messages = append(r.Messages, model.Message{Role: model.RoleAssistant, Reasoning: "hm", Calls: []model.Call{{ID: "call_abc", Name: "read", Arguments: "{}"}}},
			model.Message{Role: model.RoleTool, CallID: "call_abc", Name: "read", Text: "x"})
	}
	has := func(key, msg string) func(modeltest.Request) string {
		return func(r modeltest.Request) string {
			if _, ok := r.Fields[key]; ok {
				return msg
			}
			return ""
		}
	}
	anyMessage := func(msg string, bad func(modeltest.Message) bool) func(modeltest.Request) string {
		return func(r modeltest.Request) string {
			for _, m := range r.Messages {
				if bad(m) {
					return msg
				}
			}
			return ""
		}
	}
	rolesRefused := func(msg string) func(modeltest.Request) string {
		return func(r modeltest.Request) string {
			if outOfOrder(r.Messages) {
				return msg
			}
			return ""
		}
	}
	cases := map[string]struct {
		quirks  provider.Quirks
		request func(*model.Request)
		refuse  func(modeltest.Request) string
	}{
		"stream_options": {provider.Quirks{}, nil, has("stream_options", "Unrecognized request argument supplied: stream_options")},
		"strict": {provider.Quirks{Strict: new(true)}, withTool, func(r modeltest.Request) string {
			if len(r.Tools) > 0 && r.Tools[0].Fields["strict"] == true {
				return "tools[0].function.strict: extra fields not permitted"
			}
			return ""
		}},
		"developer":             {provider.Quirks{DeveloperRole: new(true)}, nil, anyMessage("developer is not one of ['system', 'assistant', 'user']", func(m modeltest.Message) bool { return m.Role == "developer" })},
		"temperature":           {provider.Quirks{}, func(r *model.Request) { r.Temperature = &zero }, has("temperature", "Unsupported value: 'temperature' does not support 0.0 with this model.")},
		"top_p":                 {provider.Quirks{}, func(r *model.Request) { r.TopP = &half }, has("top_p", "Unsupported parameter: top_p")},
		"max_tokens":            {provider.Quirks{}, func(r *model.Request) { r.MaxOutputTokens = 9 }, has("max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")},
		"max_completion_tokens": {provider.Quirks{MaxCompletionTokens: new(true)}, func(r *model.Request) { r.MaxOutputTokens = 9 }, has("max_completion_tokens", "max_completion_tokens: unknown field")},
		"effort":                {provider.Quirks{}, func(r *model.Request) { r.ReasoningEffort = "high" }, has("reasoning_effort", "Unrecognized request argument supplied: reasoning_effort")},
		"effort none with tools": {provider.Quirks{}, withTool, func(r modeltest.Request) string {
			if r.Fields["reasoning_effort"] != "none" {
				return "Function tools are not supported with this model; use the Responses API"
			}
			return ""
		}},
		"reasoning needed":  {provider.Quirks{}, withCall, anyMessage("reasoning_content is missing", func(m modeltest.Message) bool { return m.Role == "assistant" && m.Reasoning == "" })},
		"reasoning refused": {provider.Quirks{ReasoningBack: new(true)}, withCall, anyMessage("unexpected field reasoning_content", func(m modeltest.Message) bool { return m.Reasoning != "" })},
		"images": {
			provider.Quirks{},
			func(r *model.Request) { r.Messages[0].Images = []model.Image{{MIME: "image/png", Data: []byte{1}}} },
			anyMessage("image_url is only supported by certain models", func(m modeltest.Message) bool { return m.Images > 0 }),
		},
		"cache markers": {provider.Quirks{CacheMarkers: []string{"test"}}, withTool, func(r modeltest.Request) string {
			if strings.Contains(string(r.Raw), "cache_control") {
				return "cache_control: unknown field"
			}
			return ""
		}},
		"thought signature": {provider.Quirks{}, withCall, func(r modeltest.Request) string {
			if !strings.Contains(string(r.Raw), "thought_signature") {
				return "Function call is missing a thought_signature in functionCall parts"
			}
			return ""
		}},
		"schema reference":   {provider.Quirks{}, withReference, refusing(`"$ref"`, `Invalid JSON payload received. Unknown name "$ref" at 'tools[0].function_declarations[0].parameters.properties[0].value': Cannot find field.`)},
		"schema definitions": {provider.Quirks{}, withReference, refusing(`"$defs"`, "Invalid schema for function 'read': $defs is not supported")},
		"schema format":      {provider.Quirks{}, withReference, refusing(`"format"`, "tools.0.function.parameters.properties.a.format: only 'enum' and 'date-time' are supported")},
		"turns, user after tool": {provider.Quirks{}, func(r *model.Request) {
			withCall(r)
			r.Messages = append(r.Messages, model.Message{Role: model.RoleUser, Text: "and now"})
		}, rolesRefused("Unexpected role 'user' after role 'tool'")},
		"turns, images of tools": {provider.Quirks{}, func(r *model.Request) {
			withCall(r)
			r.Messages[len(r.Messages)-1].Images = []model.Image{{MIME: "image/png", Data: []byte{1}}}
		}, rolesRefused("Unexpected role 'user' after role 'tool'")},
		"turns, two of the person": {provider.Quirks{}, func(r *model.Request) {
			r.Messages = append(r.Messages, model.Message{Role: model.RoleUser, Text: "and more"})
		}, rolesRefused("After the optional system message, conversation roles must alternate user/assistant/user/assistant/...")},
		"turns, an answer first": {provider.Quirks{}, func(r *model.Request) {
			r.Messages = append([]model.Message{{Role: model.RoleAssistant, Text: "a"}, {Role: model.RoleAssistant, Text: "b"}}, r.Messages...)
		}, rolesRefused("Conversation roles must alternate user/assistant")},
		"system role named":           {provider.Quirks{}, nil, anyMessage("This model does not support 'system' messages", func(m modeltest.Message) bool { return m.Role == "system" })},
		"developer instruction":       {provider.Quirks{}, nil, anyMessage("Developer instruction is not enabled for models/gemma-3-27b-it", func(m modeltest.Message) bool { return m.Role == "system" })},
		"effort, in another spelling": {provider.Quirks{}, func(r *model.Request) { r.ReasoningEffort = "high" }, has("reasoning_effort", "Argument not supported on this model: reasoningEffort")},
		"effort, lowered": {provider.Quirks{}, func(r *model.Request) { r.ReasoningEffort = "xhigh" }, func(r modeltest.Request) string {
			if r.Fields["reasoning_effort"] != "high" {
				return "This model does not support effort level 'xhigh'. Supported levels: low, medium, high."
			}
			return ""
		}},
		"long call ids": {provider.Quirks{}, func(r *model.Request) {
			withCall(r)
			id := "chatcmpl-tool-" + strings.Repeat("a", 32)
			r.Messages[1].Calls[0].ID, r.Messages[2].CallID = id, id
		}, anyMessage("Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 46 instead.", func(m modeltest.Message) bool {
			return len(m.Calls) > 0 && len(m.Calls[0].ID) > 40
		})},
		"no system role": {provider.Quirks{}, func(r *model.Request) { r.System = "be good" }, anyMessage("System role not supported", func(m modeltest.Message) bool { return m.Role == "system" })},
		"text with calls": {provider.Quirks{}, func(r *model.Request) {
			withCall(r)
			r.Messages[1].Text = "I look."
		}, anyMessage("Assistant message must have either content or tool_calls, but not both.", func(m modeltest.Message) bool {
			return len(m.Calls) > 0 && m.Content != ""
		})},
		"reasoning needed with another model's calls": {provider.Quirks{}, func(r *model.Request) {
			withCall(r)
			r.Messages[1].Reasoning = ""
		}, anyMessage("thinking is enabled but reasoning_content is missing in assistant tool call message at index 2", func(m modeltest.Message) bool { return len(m.Calls) > 0 && m.Reasoning == "" })},
		"short ids":  {provider.Quirks{}, withCall, anyMessage("Tool call id was call_abc but must be a-z, A-Z, 0-9, with a length of 9.", func(m modeltest.Message) bool { return m.Role == "tool" && len(m.ToolCallID) != 9 })},
		"tool names": {provider.Quirks{}, withCall, anyMessage("GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.", func(m modeltest.Message) bool { return m.Role == "tool" && m.Fields["name"] == nil })},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			srv := modeltest.New(t, modeltest.RefuseIf(c.refuse, modeltest.Text("ok")).Forever())
			client := newClient(t, srv.URL(), func(p *provider.Config) { p.Quirks = c.quirks })
			req := ask("x")
			if c.request != nil {
				c.request(&req)
			}
			resp, s, err := stream(t, client, req)
			if err != nil || resp.Text != "ok" || len(s.notes) != 1 || len(srv.Requests()) != 2 || len(s.waits) != 0 {
				t.Fatalf("%+v %v, notes %q, %d requests", resp, err, s.notes, len(srv.Requests()))
			}
			if _, s, err := stream(t, client, req); err != nil || len(s.notes) != 0 || len(srv.Requests()) != 3 {
				t.Errorf("not remembered: %v, %q, %d requests", err, s.notes, len(srv.Requests()))
			}
		})
	}
	t.Run("a refusal that no change meets is not sent again and again", func(t *testing.T) {
		srv := modeltest.New(t, modeltest.Refusal("", "I dislike stream_options, temperature and developer").Forever())
		req := ask("x")
		req.Temperature = &zero
		_, _, err := stream(t, newClient(t, srv.URL()), req)
		if e := classOf(t, err); e.Class != model.ClassRequest || len(srv.Requests()) != 3 {
			t.Errorf("%v after %d requests", err, len(srv.Requests()))
		}
	})
}

// outOfOrder reports whether turns do not alternate as strict chat templates require.
func outOfOrder(list []modeltest.Message) bool {
	before := "assistant"
	for _, m := range list {
		switch {
		case m.Role == "system":
			continue
		case m.Role == "user" && before != "assistant", m.Role == "assistant" && before != "user" && before != "tool", m.Role == "tool" && before != "tool" && before != "assistant":
			return true
		}
		before = m.Role
	}
	return false
}

// A local server whose chat template fails answers with 500.
func TestTemplateOfALocalServerGetsAlternatingTurns(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Func(func(r modeltest.Request) modeltest.Reply {
		if outOfOrder(r.Messages) {
			return modeltest.Error(500, "server_error", "Error: Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.")
		}
		return modeltest.Text("ok")
	}).Forever())
	req := ask("x")
	req.Messages = append(req.Messages, model.Message{Role: model.RoleUser, Text: "y"})
	if _, s, err := stream(t, newClient(t, srv.URL()), req); err != nil || len(srv.Requests()) != 2 || len(s.waits) != 0 {
		t.Errorf("%v after %d requests, waits %v", err, len(srv.Requests()), s.waits)
	}
}

// Joining and bridging messages loses nothing of the conversation.
func TestAlternatingTurnsKeepEveryWord(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Text("ok"))
	req := ask("first")
	req.Messages = append(req.Messages,
		model.Message{Role: model.RoleUser, Text: "second", Images: []model.Image{{MIME: "image/png", Data: []byte{1}}}},
		model.Message{Role: model.RoleAssistant, Calls: []model.Call{{ID: "call_1", Name: "read", Arguments: "{}"}, {ID: "call_2", Name: "read", Arguments: "{}"}}},
		model.Message{Role: model.RoleTool, CallID: "call_1", Text: "one", Images: []model.Image{{MIME: "image/png", Data: []byte{2}}}},
		model.Message{Role: model.RoleTool, CallID: "call_2", Text: "two", Images: []model.Image{{MIME: "image/png", Data: []byte{3}}}},
		model.Message{Role: model.RoleUser, Text: "third"},
	)
	client := newClient(t, srv.URL(), func(p *provider.Config) { p.Quirks.AlternateTurns = new(true) })
	if _, _, err := stream(t, client, req); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range srv.Requests()[0].Messages {
		got = append(got, fmt.Sprintf("%s %q %d", m.Role, m.Content, m.Images))
	}
	want := []string{
		`user "first\n\nsecond" 1`, `assistant "" 0`, `tool "one" 0`, `tool "two" 0`, `assistant "Understood." 0`,
		`user "The images of the tool results above:\n\nthird" 2`,
	}
	if req.System != "" {
		want = append([]string{fmt.Sprintf("system %q 0", req.System)}, want...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(req.Messages[3].Images) != 1 {
		t.Error("the caller's messages were changed")
	}
}

func TestProviderWithSimpleSchemasNeverSeesAReference(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Text("ok"))
	req := ask("x")
	req.Tools = []model.Tool{
		{Name: "tree", Parameters: []byte(`{"type":"object","properties":{"zebra":{"$ref":"#/$defs/t"},"apple":{"type":"string"}},"$defs":{"t":{"type":"object","properties":{"next":{"$ref":"#/$defs/t"}}}}}`)},
		{Name: "plain", Parameters: []byte(`{"type":"object","properties":{"b":{"maximum":9007199254740993},"a":{}}}`)},
	}
	_, s, err := stream(t, newClient(t, srv.URL(), func(p *provider.Config) { p.Quirks.SimpleSchemas = new(true) }), req)
	if err != nil || len(s.notes) != 0 {
		t.Fatalf("%v %q", err, s.notes)
	}
	raw := string(srv.Requests()[0].Raw)
	for _, want := range []string{
		`{"type":"object","properties":{"zebra":{"type":"object","properties":{"next":{"type":"object","properties":{"next":{"type":"object"}}}}},"apple":{"type":"string"}}}`,
		string(req.Tools[1].Parameters),
	} {
		if !strings.Contains(raw, want) {
			t.Errorf("%s\nis not in %s", want, raw)
		}
	}
}

func TestThoughtSignaturesComeBackWithTheirCalls(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Chunks(
		callDelta(`{"index":0,"id":"sig1","function":{"name":"read","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln\"x"}}}`),
		callDelta(`{"index":1,"id":"plain","function":{"name":"read","arguments":"{}"}}`), modeltest.FinishChunk("tool_calls")),
		modeltest.Text("ok"))
	client := newClient(t, srv.URL())
	req := ask("x")
	resp, _, err := stream(t, client, req)
	if err != nil {
		t.Fatal(err)
	}
	req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, Calls: resp.Calls, Opaque: resp.Opaque},
		model.Message{Role: model.RoleTool, CallID: "sig1", Text: "a"}, model.Message{Role: model.RoleTool, CallID: "plain", Text: "b"})
	if _, _, err := stream(t, client, req); err != nil {
		t.Fatal(err)
	}
	raw := string(srv.Requests()[1].Raw)
	if strings.Count(raw, "extra_content") != 1 || !strings.Contains(raw, `"extra_content":{"google":{"thought_signature":"c2ln\"x"}}`) {
		t.Errorf("%s", raw)
	}
}

func TestServerWithoutEyesRefusesWith500(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Func(func(r modeltest.Request) modeltest.Reply {
		if r.Messages[1].Images > 0 {
			return modeltest.Error(500, "server_error", "image input is not supported - hint: you may need to provide the mmproj")
		}
		return modeltest.Text("ok")
	}).Forever())
	req := ask("x")
	req.Messages[0].Images = []model.Image{{MIME: "image/png", Data: []byte{1}}}
	if _, s, err := stream(t, newClient(t, srv.URL()), req); err != nil || len(srv.Requests()) != 2 || len(s.waits) != 0 {
		t.Errorf("%v after %d requests", err, len(srv.Requests()))
	}
}

func TestTitlesAreNotWorthAWait(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Status(503, nil, "").Forever())
	req := ask("x")
	req.Purpose = model.PurposeTitle
	if _, _, err := stream(t, newClient(t, srv.URL()), req); err == nil || len(srv.Requests()) != 1 {
		t.Errorf("%v after %d requests", err, len(srv.Requests()))
	}
}

func TestRefusedToolIsNamed(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string]int{
		"Invalid 'tools[1].function.parameters': bad":                                                    1,
		"tools.0.custom.input_schema: JSON schema is invalid":                                            0,
		"Invalid value at 'tools[0].function_declarations[1].parameters'":                                1,
		"Invalid schema for function 'grep': In context=('properties', 'x'), array schema missing items": 1,
		"tools[99] is odd": -1,
		"something else":   -1,
	} {
		t.Run(msg, func(t *testing.T) {
			srv := modeltest.New(t, modeltest.Refusal("", msg))
			req := ask("x")
			for _, n := range []string{"read", "grep"} {
				req.Tools = append(req.Tools, model.Tool{Name: n, Parameters: []byte(`{"type":"object","properties":{}}`)})
			}
			_, _, err := stream(t, newClient(t, srv.URL()), req)
			e := classOf(t, err)
			if e.ToolIndex != want || want >= 0 && e.Tool != req.Tools[want].Name || (want >= 0) != (e.Class == model.ClassTool) {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestFallbackTakesOver(t *testing.T) {
	t.Parallel()
	first := modeltest.New(t, modeltest.Text("half", "more").CutAfter(2).Forever())
	second := modeltest.New(t, modeltest.Text("whole").Forever())
	f := model.NewFallback(newClient(t, first.URL()), newClient(t, second.URL()), "other-model")
	resp, s, err := stream(t, f, ask("x"))
	if err != nil || resp.Text != "whole" || s.text.String() != "whole" || len(s.notes) != 1 {
		t.Errorf("%+v %v %q", resp, err, s.notes)
	}
	before := len(first.Requests())
	if _, s, err := stream(t, f, ask("y")); err != nil || len(first.Requests()) != before || len(s.notes) != 0 {
		t.Errorf("the first model is asked again at once: %v", err)
	}
	if m := second.Requests()[1].Model; m != "other-model" {
		t.Errorf("model %q", m)
	}
	t.Run("not on overflow", func(t *testing.T) {
		srv := modeltest.New(t, modeltest.ContextOverflow())
		f := model.NewFallback(newClient(t, srv.URL()), newClient(t, second.URL()), "other")
		if _, _, err := stream(t, f, ask("x")); classOf(t, err).Class != model.ClassOverflow {
			t.Error(err)
		}
	})
}

func TestWrongBaseURLIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "localhost:1234", "ftp://x/v1", "http://", "http://a b"} {
		if _, err := chat.New(provider.Config{BaseURL: url}); err == nil {
			t.Errorf("%q was accepted", url)
		}
	}
	if _, err := chat.New(provider.Config{BaseURL: "http://x", ExtraBody: map[string]any{"f": func() {}}}); err == nil {
		t.Error("a function as extra body was accepted")
	}
	var target error = &model.Error{Class: model.ClassNetwork, Err: errors.New("x")}
	if errors.Unwrap(target) == nil {
		t.Error("the cause is lost")
	}
}
